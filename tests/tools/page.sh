#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report --html: that the page has what the JSON has, refers to nothing, can be used by everybody,
# and what it looks like in a browser.

. "$(dirname "$0")/common.sh"

# check PAGE REPORT: what is wrong goes to the file wrong.
check() {
	timeout 60 python3 "$here/page-check.py" "$1" "$2" "$root/tools/model/columns.def" >wrong 2>&1
}

# page NAME FILE...: the page and the JSON of these files fit each other.
page() {
	name=$1
	shift
	if timeout 60 "$elide" report --html "$name.html" "$@" >out 2>&1 &&
	   "$elide" report --json "$@" >"$name.json" && [ ! -s out ] &&
	   check "$name.html" "$name.json"; then
		ok "page: $name"
	else
		not_ok "page: $name" "$(cat out wrong)"
	fi
}

# refused NAME SED: the check sees what is planted in the page of all there is.
refused() {
	sed "$2" all.html >broken.html
	if cmp -s all.html broken.html; then
		not_ok "page: planted: $1" 'the page is as before'
	elif check broken.html all.json; then
		not_ok "page: planted: $1" 'it was not seen'
	else
		ok "page: planted: $1"
	fi
}

if ! command -v python3 >/dev/null; then
	skip page 'python3 is not installed'
	finish
fi

for scenario in elide profile killed idle full; do
	"$O/tests/tools/mkdata" $scenario.data $scenario
	page $scenario $scenario.data
done
page several elide.data profile.data killed.data

"$elide" report --html - elide.data >stdout.html
cmp -s stdout.html elide.html && ok 'page: to standard output' ||
	not_ok 'page: to standard output' 'it differs from the file'
"$elide" report --html x/y.html elide.data 2>err
[ $? -eq 2 ] && [ "$(cat err)" = 'elide: x/y.html cannot be written: No such file or directory' ] &&
	ok 'page: cannot be written' || not_ok 'page: cannot be written' "$(cat err)"
"$elide" report --html - --by=line elide.data >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '^elide: --by=line does not go with --html' err &&
	ok 'page: no view' || not_ok 'page: no view' "$(cat err)"
if [ -c /dev/full ]; then
	"$elide" report --html /dev/full elide.data 2>err
	[ $? -eq 2 ] && grep -q 'cannot be written' err && ok 'page: no space' ||
		not_ok 'page: no space' "$(cat err)"
fi

# All that a report can hold, with hostile names
python3 "$here/page-overlay.py" >overlay.json
if timeout 60 "$O/tests/tools/page" elide.data overlay.json all.json >all.html &&
   check all.html all.json; then
	ok 'page: hostile names'
else
	not_ok 'page: hostile names' "$(cat wrong)"
fi
refused 'an id twice' 's/id=p1-causes/id=p1-table/'
refused 'no security policy' '/Content-Security-Policy/d'
refused 'another script' 's/^.use strict.;/alert(1);/'
refused 'a name that is markup' 's/&lt;script&gt;/<script>/'
refused 'a mark that turns the text' "s/onerror=alert(2)&gt;?/onerror=alert(2)\&gt;$(printf '\342\200\256')/"
refused 'a picture from elsewhere' 's/&lt;img src/<img src/'
refused 'a row that is missing' '/<td class="num c-acquired" data-v="1500\.0*">/d'
refused 'a column that is missing' 's|<th scope=col class="c-verdict">VERDICT</th>||'
refused 'a link that leads nowhere' 's/id=p1-r2/id=p1-r9/'
refused 'an element that is not closed' 's|</section>||'
refused 'a colour too faint' 's/--dim: light-dark([^)]*)/--dim: light-dark(#aaaaaa, #a3a8b0)/'
refused 'a box without a label' 's/label for=p1-filter/label for=p1-f/'
refused 'no picture of the waits' 's/id=p1-waits/id=p1-waited/; s/#p1-waits/#p1-waited/'
refused 'a lock with two names' '/^<summary>/s/<code[^>]*>subject_create[^<]*/<code>made in subject_create/'
refused 'a holder that is missing' 's/subject_lookup_held/subject_lookup/g'
refused 'a thread that is missing' 's|worker-7|worker|'
refused 'a drawing without words' 's/class=bar aria-hidden=true/class=bar/'

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$chromium" ]; then
	PYTHONDONTWRITEBYTECODE=1 timeout 330 python3 "$here/page-browser.py" "$chromium" all.html >lines 2>&1
	rc=$?
	adopt lines browser $rc
else
	skip 'browser' 'chromium is not installed'
fi

finish
