// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.js - the interaction of the page of report --html: sort a table by a column, show some
 * of its rows, search in a flame graph and widen a part of it, copy a setting, change the colours,
 * open the row that a link leads to. Must never add data to the page.
 */
'use strict';

const root = document.documentElement;
const said = document.getElementById('said');

/* Dark or light. #dark and #light in the address choose one from the start. */
const theme = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
	return root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
}

function showTheme() {
	theme.setAttribute('aria-pressed', isDark());
}

if (location.hash === '#dark' || location.hash === '#light')
	root.dataset.theme = location.hash.slice(1);
theme.addEventListener('click', () => {
	root.dataset.theme = isDark() ? 'light' : 'dark';
	showTheme();
});
system.addEventListener('change', showTheme);
theme.hidden = false;
showTheme();

/* Numbers begin with the largest, names with the first. Equal rows keep their order. */
function sortBy(table, head, index) {
	const number = head.classList.contains('num');
	const first = number ? 'descending' : 'ascending';
	const second = number ? 'ascending' : 'descending';
	const order = head.getAttribute('aria-sort') === first ? second : first;
	const sign = order === 'ascending' ? 1 : -1;
	const body = table.tBodies[0];
	const rows = [...body.rows].map((row) => {
		const cell = row.cells[index];

		return {row, key: number ? Number(cell.dataset.v) : cell.textContent};
	});

	rows.sort((a, b) => sign * (number ? a.key - b.key : a.key.localeCompare(b.key)));
	body.append(...rows.map((r) => r.row));
	for (const th of table.tHead.rows[0].cells)
		th.setAttribute('aria-sort', th === head ? order : 'none');
	said.textContent = `Sorted by ${head.textContent}, ${order}`;
}

for (const table of document.querySelectorAll('table.rows'))
	[...table.tHead.rows[0].cells].forEach((head, index) => {
		const button = document.createElement('button');

		button.type = 'button';
		button.textContent = head.textContent;
		button.addEventListener('click', () => sortBy(table, head, index));
		head.replaceChildren(button);
		head.setAttribute('aria-sort', 'none');
	});

for (const tools of document.querySelectorAll('.tools'))
	tools.hidden = false;

/* Shows the rows with the text in their names or words. */
for (const input of document.querySelectorAll('.filter')) {
	const section = input.closest('section');
	const rows = [...section.querySelectorAll('table.rows tbody tr')];
	const found = section.querySelector('.found');

	input.addEventListener('input', () => {
		const text = input.value.toLowerCase();
		let shown = 0;

		for (const row of rows) {
			const names = [...row.cells].filter((c) => !c.classList.contains('num'))
				.map((c) => `${c.textContent} ${c.title}`).join(' ');

			row.hidden = !names.toLowerCase().includes(text);
			shown += !row.hidden;
		}
		found.textContent = text ? `${shown} of ${rows.length}` : '';
	});
}

/* A flame graph: base keeps its initial positions. */
for (const flame of document.querySelectorAll('.flame')) {
	const section = flame.closest('section');
	const input = section.querySelector('.search');
	const found = section.querySelector('.found');
	const frames = [...flame.querySelectorAll('.frame')].map((element) => ({
		element,
		text: element.querySelector('title').textContent,
		x: parseFloat(element.getAttribute('x')),
		width: parseFloat(element.getAttribute('width')),
	}));

	/* Widen this place to the whole drawing; hide everything outside of it. */
	const widen = (from, width) => {
		for (const f of frames) {
			const begin = Math.max(f.x, from);
			const end = Math.min(f.x + f.width, from + width);

			f.element.setAttribute('display', end - begin > 1e-6 ? 'inline' : 'none');
			f.element.setAttribute('x', `${100 * (begin - from) / width}%`);
			f.element.setAttribute('width', `${Math.max(0, 100 * (end - begin) / width)}%`);
		}
	};

	/* A function inside one that was found is not counted again. */
	const search = () => {
		const text = input.value.toLowerCase();
		let sum = 0, end = -1;

		for (const f of frames) {
			const hit = text !== '' && f.text.toLowerCase().includes(text);

			f.element.classList.toggle('hit', hit);
			f.hit = hit;
		}
		for (const f of frames.filter((g) => g.hit).sort((a, b) => a.x - b.x || b.width - a.width))
			if (f.x + f.width > end + 1e-3) {
				sum += f.width;
				end = f.x + f.width;
			}
		found.textContent = text ? `${sum.toFixed(1)}% of the time waiting for locks` : '';
	};

	for (const f of frames)
		f.element.addEventListener('click', () => widen(f.x, f.width));
	section.querySelector('.whole').addEventListener('click', () => widen(0, 100));
	input.addEventListener('input', search);
}

/* A page from a file may lack the clipboard API: then use execCommand. */
async function copy(code) {
	try {
		await navigator.clipboard.writeText(code.textContent);
		return true;
	} catch {
		getSelection().selectAllChildren(code);
		return document.execCommand('copy');
	}
}

for (const button of document.querySelectorAll('.copy')) {
	button.addEventListener('click', async () => {
		const code = button.previousElementSibling;
		const done = await copy(code);

		button.textContent = done ? 'Copied' : 'Select it by hand';
		said.textContent = button.textContent;
		setTimeout(() => { button.textContent = 'Copy'; }, 2000);
	});
	button.hidden = false;
}

/* Open the closed row that a link leads to. */
function openTarget() {
	const target = document.getElementById(location.hash.slice(1));

	if (target instanceof HTMLDetailsElement)
		target.open = true;
}

addEventListener('hashchange', openTarget);
openTarget();

/* Open all rows for printing. */
let closed = [];

addEventListener('beforeprint', () => {
	closed = [...document.querySelectorAll('details:not([open])')];
	closed.forEach((d) => { d.open = true; });
});
addEventListener('afterprint', () => closed.forEach((d) => { d.open = false; }));
