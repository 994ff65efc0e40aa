#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every word that a table, the page or top shows is in the manual: the heads of columns, verdicts,
# states, decisions, kinds, arms, causes and kinds of misuse, from the lists of the sources.

. "$(dirname "$0")/common.sh"

# The pages as one line, without the names of macros.
cat "$O"/man/* | sed 's/^\.\\".*//; s/^\.[A-Z][a-z]* //; s/ \(Cm\|No\|Ns\|Pq\|Po\|Fl\|It\) / /g; s/\\&//g' |
	tr '\n' ' ' >manual

# explained WORD: is it in the manual, and not as a part of another word?
explained() {
	LC_ALL=C awk -v word="$1" '
		{
			text = $0
			while ((at = index(text, word))) {
				before = at == 1 ? " " : substr(text, at - 1, 1)
				after = substr(text, at + length(word), 1)
				if (before !~ /[A-Za-z0-9_-]/ && after !~ /[A-Za-z0-9_-]/) { found = 1; exit }
				text = substr(text, at + length(word))
			}
		}
		END { exit !found }' manual
}

# Strings of a list in names.c.
names_of() { sed -n "/^NAMES($1,/,/)\$/p" "$root/tools/names/names.c" | grep -o '= "[^"]*"' | sed 's/= "\(.*\)"/\1/'; }

# words NAME: each line of the file list is explained, and there are some.
words() {
	missing=
	while IFS= read -r word; do
		explained "$word" || missing="$missing '$word'"
	done <list
	if [ ! -s list ]; then
		not_ok "words: $1" 'the list is empty'
	elif [ -n "$missing" ]; then
		not_ok "words: $1" "the manual has no$missing"
	else
		ok "words: $1"
	fi
}

sed -n 's/^ELIDE_COLUMN([a-z_]*, "\([^"]*\)".*/\1/p' "$root/tools/model/columns.def" >list
words 'columns'
sed -n 's/^ELIDE_FIELD(\([a-z_]*\),.*/\1/p' "$root/tools/model/columns.def" >list
words 'exact numbers'
sed -n 's/^ELIDE_THREAD_COLUMN([a-z_]*, "\([^"]*\)".*/\1/p' "$root/tools/model/threads.def" >list
words 'columns of threads'
sed -n 's/^ELIDE_VERDICT([A-Z]*, "\([^"]*\)".*/\1/p' "$root/tools/model/verdicts.def" >list
words 'verdicts'
sed -n 's/^ELIDE_ARM(\([a-z]*\),.*/\1/p' "$root/lib/arms.def" >list
words 'arms'
sed -n 's/^ELIDE_LEARNED(\([a-z]*\),.*/\1/p' "$root/lib/learned.def" >list
words 'what became of a file of what was learnt'
sed -n 's/^ELIDE_CAUSE(\([a-z_]*\),.*/\1/p' "$root/lib/aborts.def" >list
words 'causes'
sed -n 's/^ELIDE_ADVICE(\([a-z_]*\),.*/\1/p' "$root/tools/model/advice.def" >list
words 'advice'
for list in state_name kind_id mode_name rtm_name misuse_name dropped_name sample_name source_name \
	data_type_name blame_name event_name; do
	names_of $list >list
	words "$list"
done
# The decisions of the policy on the page.
sed -n '/^static void list(/,/^}/p' "$root/tools/print/html/html-time.c" |
	grep -o '<th scope=col[^>]*>[A-Z][a-z ]*<' | sed 's/.*>\(.*\)</\1/' | grep -v '^Lock and site$' >list
words 'decisions on the page'

# A word that is in no page is found.
for word in forgoes 'real with keen'; do
	explained "$word" && not_ok "words: planted: $word" 'it is in the manual' || ok "words: planted: $word"
done

finish
