// SPDX-License-Identifier: GPL-2.0-or-later
/* libcrypto, whose providers and reference counts are kept under rwlocks. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#define THREADS 4
#define ROUNDS  100

static void *hash(void *first)
{
	unsigned char *digest = first, next[EVP_MAX_MD_SIZE];
	unsigned int size;

	for (int i = 0; i < ROUNDS; i++) {
		/* Fetched anew each time: that is what takes the locks. */
		EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", NULL);
		EVP_MD_CTX *context = EVP_MD_CTX_new();

		if (!md || !context || !EVP_DigestInit_ex(context, md, NULL) ||
		    !EVP_DigestUpdate(context, digest, 32) ||
		    !EVP_DigestFinal_ex(context, next, &size))
			return "failed";
		memcpy(digest, next, 32);
		EVP_MD_CTX_free(context);
		EVP_MD_free(md);
	}
	return NULL;
}

int main(void)
{
	static unsigned char digests[THREADS][32];
	pthread_t threads[THREADS];
	void *failed;

	for (int i = 0; i < THREADS; i++) {
		digests[i][0] = i;
		pthread_create(&threads[i], NULL, hash, digests[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		for (int k = 0; k < 32; k++)
			printf("%02x", digests[i][k]);
		printf("%s\n", failed ? " failed" : "");
	}
	return 0;
}
