/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults.h - missing and damaged parts of a data file.
 *
 * Must never count data that a live process has added since its header was read as a fault.
 */
#ifndef ELIDE_FAULTS_H
#define ELIDE_FAULTS_H

#include <stdbool.h>

#include "../load.h"

/* Bytes of the text of faults_text(), without the name of the file. */
#define FAULTS_TEXT 600

/**
 * faults_missing() - count chunks and records that the header counts and the file does not have.
 * @chunks, @records: what was found, by enum elide_chunk_type
 */
void faults_missing(struct data_file *f, const uint32_t *chunks, const uint32_t *records);

/** faults_bad() - note a damaged chunk or record. @what: of the first one, a sentence with its offset */
void faults_bad(struct load_notes *n, const char *what);

/** faults_add() - add the faults of one file to those of the merged file. */
void faults_add(struct load_notes *to, const struct load_notes *n);

/** faults_any() - is anything missing or damaged, so that the numbers are incomplete? */
bool faults_any(const struct load_notes *n);

/**
 * faults_text() - the faults in one line.
 * @text: FAULTS_TEXT bytes
 *
 * Return: @text
 */
const char *faults_text(const struct load_notes *n, char *text);

/**
 * faults_of() - the faults in one line, after the name of the file.
 * @text: LOAD_ERROR_MAX bytes
 *
 * Return: @text; NULL if nothing is missing.
 */
const char *faults_of(const struct data_file *f, char *text);

#endif
