#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the style and the script of report --html as C strings, with the
# hashes by which the page's security policy allows only them.
# Must need no more than a shell and coreutils.
set -eu

cd "$(dirname "$0")"
echo '/* Made by tools/print/html/assets.sh. */'
for name in css js; do
	hash=$(sha256sum <report.$name | cut -c 1-64 | sed 's/../\\x&/g')
	echo "const char page_$name[] ="
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' report.$name
	echo ';'
	printf 'const char page_%s_hash[] = "sha256-%s";\n' $name "$(env printf "$hash" | base64)"
done
