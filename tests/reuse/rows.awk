# SPDX-License-Identifier: GPL-2.0-or-later
# rows.awk - a report in CSV as the lines that the programs write of what is true:
# CLASS|KIND|SITE|STATE|ACQUIRED|LOCKS.
#
# Also what is wrong: "elided ROW" for a row with an elided acquisition though its STATE is off; with
# always=1 "never ROW" for a row of which nothing was elided though it could be.
BEGIN { FS = "," }
FNR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}
{
	gsub(/"/, "")
	lock = $column["lock"]
	sub(/ [^ ]*:[0-9]+$/, "", lock)
	state = $column["state"] == "off" ? "off" : "on"
	key = lock "|" $column["kind"] "|" $column["site_symbol"] "|" state
	acquired[key] += $column["acquired"]
	elided[key] += $column["elided"] + $column["commits"]
	locks[key] = $column["locks"]
}
END {
	for (key in acquired) {
		print key "|" acquired[key] "|" locks[key]
		if (key ~ /\|off$/ && elided[key])
			print "elided " key
		if (always && key ~ /\|on$/ && key !~ /\|sem\|/ && acquired[key] >= 20 && !elided[key])
			print "never " key
	}
}
