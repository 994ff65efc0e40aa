# SPDX-License-Identifier: GPL-2.0-or-later
#
# slim.awk - an SVG of gnuplot's on stdin as one that looks the same, in a fifth of the size or less. Lines
# of one colour, width and dash become one path, the points of a curve another; texts come last.
# Coordinates are whole tenths of a pixel, most relative to the one before. Must never leave out what it
# does not know: it then fails, as it does if the end of the picture is missing.
BEGIN {
	RS = "<"
	# Corners of gnuplot's points: squares, triangles up and down, diamonds, pentagons. A filled one has
	# the next number. Circles, 5 and 6, have none.
	corners[3] = "-1,-1 1,-1 1,1 -1,1"
	corners[7] = "0,-1.33 -1.33,.67 1.33,.67"
	corners[9] = "0,1.33 1.33,-.67 -1.33,-.67"
	corners[11] = "0,-1.41 1.41,0 0,1.41 -1.41,0"
	corners[13] = "0,1.33 1.27,.41 .78,-1.07 -.78,-1.07 -1.27,.41"
}

function fail(why) {
	print "slim.awk: " why >"/dev/stderr"
	failed = 1
	exit 1
}

# The value of an attribute of this element; empty if it has none.
function value(name) {
	if (!match($0, "[ \t\n]" name "=(\"[^\"]*\"|'[^']*')"))
		return ""
	return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
}

function tenths(n) { return int(n * 10 + (n < 0 ? -.5 : .5)) }

# The two numbers of "X,Y", in tenths.
function pair(text, xy) {
	split(text, xy, ",")
	xy[1] = tenths(xy[1])
	xy[2] = tenths(xy[2])
}

# The numbers of "translate(X,Y) scale(Z)" or "translate(X,Y) rotate(Z)".
function moved(text, xyz) {
	gsub(/[^0-9.-]+/, " ", text)
	split(text, xyz, " ")
}

# A colour as #RRGGBB.
function colour(text, part) {
	if (text !~ /^rgb/)
		return text
	split(substr(text, 5), part, ",")
	return sprintf("#%02x%02x%02x", part[1], part[2], part[3])
}

function numbers(x, y) { return x (y < 0 ? "" : " ") y }
function step(dx, dy) { return dy == 0 ? "h" dx : dx == 0 ? "v" dy : "l" numbers(dx, dy) }

# The path of these attributes gets more.
function add(attributes, more) {
	if (!(attributes in path))
		order[++nr_paths] = attributes
	path[attributes] = path[attributes] more
}

# Each part "M x,y L x,y ..." of a path that has a line and is not there already.
function lines(d, attributes, part, word, xy, last, n, m, i, j, text) {
	n = split(d, part, "M")
	for (i = 2; i <= n; i++) {
		m = split(part[i], word, /[ \t\n]+/)
		pair(word[1], last)
		text = "M" numbers(last[1], last[2])
		for (j = 2; j <= m && word[j] != ""; j++) {
			if (word[j] !~ /^L[0-9.-]+,[0-9.-]+$/)
				fail("an unknown part of a path: " word[j])
			pair(substr(word[j], 2), xy)
			text = text step(xy[1] - last[1], xy[2] - last[2])
			pair(substr(word[j], 2), last)
		}
		if (j > 2 && !((attributes, text) in seen))
			add(attributes, text)
		seen[attributes, text] = 1
	}
}

# A closed shape that begins at x y, relative to where the last one of these attributes began.
function shape(attributes, x, y, text) {
	add(attributes, ((attributes in path) ? "m" : "M") \
		numbers(x - begun_x[attributes], y - begun_y[attributes]) text)
	begun_x[attributes] = x
	begun_y[attributes] = y
}

# A point of a curve, of gnuplot's number kind, in its place. A filled circle is the round end of a line.
function point(kind, x, y, scale, ink, solid, corner, xy, last, n, i, text) {
	solid = kind % 2 == 0
	ink = "stroke=\"" ink "\"" (solid && kind != 6 ? " fill=\"" ink "\"" : "")
	n = tenths(scale)
	if (kind == 6) {
		shape(ink " stroke-width=\"" 2 * n + 10 "\" stroke-linecap=\"round\"", x, y, "h0")
	} else if (kind == 5) {
		text = "a" n " " n " 0 1 0 "
		shape(ink, x - n, y, text 2 * n " 0" text (-2 * n) " 0z")
	} else if ((kind - solid) in corners) {
		for (i = split(corners[kind - solid], corner, " "); i > 0; i--) {
			split(corner[i], xy, ",")
			pair(xy[1] * scale "," xy[2] * scale, xy)
			text = text == "" ? "z" : step(last[1] - xy[1], last[2] - xy[2]) text
			last[1] = xy[1]
			last[2] = xy[2]
		}
		shape(ink, x + xy[1], y + xy[2], text)
	} else {
		fail("an unknown point: " kind)
	}
}

/^defs>/ { defs = 1 }
/^\/defs>/ { defs = 0 }
/^\/svg>/ { whole = 1 }
/^\/text>/ { texts[anchor] = texts[anchor] "<text " place ">" text "</text>\n" }
defs || NR == 1 || /^(\?xml|title>|desc>|\/)/ { next }

/^svg[ \n]/ {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" " \
		"fill=\"none\" stroke-width=\"10\" font-family=\"DejaVu Sans,sans-serif\" font-size=\"120\">\n",
		value("width"), value("height"), value("width") * 10, value("height") * 10
	next
}
/^rect x="0" y="0" / { print "<path fill=\"" value("fill") "\" d=\"M0 0h99999v99999H0z\"/>"; next }
/^g / {
	if (value("stroke-width") != "")
		width = tenths(value("stroke-width"))
	if (value("text-anchor") == "")
		next
	anchor = value("text-anchor")
	moved(value("transform"), at)
	place = "x=\"" tenths(at[1]) "\" y=\"" tenths(at[2]) "\""
	if (at[3] != "")
		place = "transform=\"translate(" tenths(at[1]) " " tenths(at[2]) ")rotate(" at[3] ")\""
	next
}
/^text>/ { text = ""; next }
/^tspan / { sub(/^[^>]*> */, ""); text = text $0; next }
/^path / {
	pair(value("stroke-dasharray"), at)
	lines(value("d"), "stroke=\"" colour(value("stroke")) "\"" \
		(width == 10 ? "" : " stroke-width=\"" width "\"") (at[1] ? " stroke-dasharray=\"" at[1] " " at[2] "\"" : ""))
	next
}
/^use / {
	moved(value("transform"), at)
	point(substr(value("xlink:href"), 6), tenths(at[1]), tenths(at[2]), at[3], colour(value("color")))
	next
}
{ fail("an unknown element: " $0) }

END {
	if (!failed && !whole)
		print "slim.awk: the end of the picture is missing" >"/dev/stderr"
	if (failed || !whole)
		exit 1
	for (i = 1; i <= nr_paths; i++)
		print "<path " order[i] " d=\"" path[order[i]] "\"/>"
	n = split("start middle end", anchors, " ")
	for (i = 1; i <= n; i++)
		if (anchors[i] in texts)
			printf "<g fill=\"#000\" text-anchor=\"%s\">\n%s</g>\n", anchors[i], texts[anchors[i]]
	print "</svg>"
}
