# SPDX-License-Identifier: GPL-2.0-or-later
# The functions of the completion for bash; elide completion bash prints $_elide_table before them.
# Must never run elide.

# _elide_find FIELD... - the first line that begins with these, its other fields in found[].
_elide_find() {
	local line begin
	printf -v begin '%s\t' "$@"
	while IFS= read -r line; do
		[[ $line$'\t' == "$begin"* ]] || continue
		line=${line:${#begin}}
		IFS=$'\t' read -r -a found <<<"$line"
		return 0
	done <<<"$_elide_table"
	return 1
}

# _elide_list FIELD... - of each line that begins with these, the next field into list[].
_elide_list() {
	local line begin
	list=()
	printf -v begin '%s\t' "$@"
	while IFS= read -r line; do
		[[ $line == "$begin"* ]] || continue
		line=${line:${#begin}}
		list+=("${line%%$'\t'*}")
	done <<<"$_elide_table"
}

# _elide_option COMMAND WORD - the option --NAME or -LETTER: ARGUMENT, KIND, VALUES in found[].
_elide_option() {
	local line f
	while IFS= read -r line; do
		[[ $line == option$'\t'"$1"$'\t'* ]] || continue
		IFS=$'\t' read -r -a f <<<"$line"
		[[ ${f[2]} == "$2" || (${f[3]} == "$2" && $2 != -) ]] || continue
		found=("${f[4]}" "${f[5]}" "${f[6]}")
		return 0
	done <<<"$_elide_table"
	return 1
}

# _elide_offer PREFIX WORD... - offer the words that begin with the text after PREFIX in $cur.
_elide_offer() {
	local prefix=$1 word
	shift
	for word; do
		[[ $prefix$word == "$cur"* ]] && COMPREPLY+=("$prefix$word")
	done
}

# Let a '=', ':' or ',' follow the word, not a space.
_elide_open() { compopt -o nospace 2>/dev/null; }

# _elide_is_data FILE - has elide written it?
_elide_is_data() {
	local magic
	LC_ALL=C IFS= read -r -N 8 magic 2>/dev/null <"$1"
	[[ $magic == ELDEDATA ]]
}

# _elide_live WORD - add to data[] the NAME of each .NAME.live, the file of a running process.
_elide_live() {
	local dir='' file
	[[ $1 == */* ]] && dir=${1%/*}/
	while IFS= read -r file; do
		[[ $file == *.live ]] && _elide_is_data "$file" || continue
		file=${file##*/.}
		file=${file#.}
		data+=("$dir${file%.live}")
	done < <(compgen -f -- "$dir.${1##*/}")
}

# Files: those that elide has written, if there are any, and directories.
_elide_files() {
	local dirs_only=$1 data_only=$2 prefix=$3 file files=() dirs=()
	while IFS= read -r file; do
		if [[ -d $file ]]; then
			dirs+=("$file/")
		elif [[ ! $dirs_only ]]; then
			files+=("$file")
		fi
	done < <(compgen -f -- "${cur:${#prefix}}")
	if [[ $data_only ]]; then
		local data=()
		for file in "${files[@]:0:1000}"; do
			# Offered as NAME, unless the word begins with a dot.
			[[ $file == *.live && ${cur##*/} != .* ]] && continue
			_elide_is_data "$file" && data+=("$file")
		done
		_elide_live "${cur:${#prefix}}"
		[[ ${#data[@]} -gt 0 ]] && files=("${data[@]}")
	fi
	compopt -o filenames 2>/dev/null
	[[ ${#dirs[@]} -gt 0 ]] && _elide_open
	COMPREPLY+=("${dirs[@]/#/$prefix}" "${files[@]/#/$prefix}")
	[[ ${#files[@]} -eq 1 && ${#dirs[@]} -eq 0 ]] && compopt +o nospace 2>/dev/null
}

# Processes with the library, or all if there are none.
_elide_pids() {
	local list=() map
	for map in /proc/[0-9]*/maps; do
		if grep -qs /libelide-preload.so "$map"; then
			map=${map#/proc/}
			list+=("${map%/maps}")
		fi
	done
	if [[ ${#list[@]} -eq 0 ]]; then
		list=(/proc/[0-9]*)
		list=("${list[@]#/proc/}")
	fi
	_elide_offer '' "${list[@]}"
}

# _elide_numbers FIELD... - the next field of each such line, as NUMBER= after the last colon or comma.
_elide_numbers() {
	local used=${rest##*[:,]} list
	[[ $used == *=* ]] && return
	_elide_list "$@"
	_elide_offer "$prefix${rest%"$used"}" "${list[@]/%/=}"
	_elide_open
}

# _elide_value KIND VALUES PREFIX - what can follow PREFIX, with which $cur begins.
_elide_value() {
	local kind=$1 values prefix=$3 rest=${cur:${#3}} list found name used
	IFS='|' read -r -a values <<<"$2"
	case $kind in
	word)
		_elide_offer "$prefix" "${values[@]}"
		;;
	set)
		[[ $rest == *,* ]] && prefix+=${rest%,*},
		used=,$rest,
		for name in "${values[@]}"; do
			[[ $used == *",$name,"* ]] || _elide_offer "$prefix" "$name"
		done
		;;
	setting)
		if [[ $rest == *=* ]]; then
			name=${rest%%=*}
			name=${name#ELIDE_}
			_elide_find tunable "${name^^}" - - - &&
				_elide_value "${found[0]}" "${found[1]}" "$prefix${rest%%=*}="
		else
			_elide_list tunable
			_elide_offer "$prefix" "${list[@]/%/=}"
			_elide_open
		fi
		;;
	model)
		if [[ $rest == list:* || $rest != *:* ]]; then
			_elide_list model
			[[ $rest == list:* ]] && prefix+=list: || list+=(list)
			_elide_offer "$prefix" "${list[@]}"
		else
			_elide_numbers number
		fi
		;;
	policy)
		if [[ $rest == *:* ]]; then
			_elide_numbers policy "${rest%%:*}"
		else
			_elide_offer "$prefix" "${values[@]}"
		fi
		;;
	file) _elide_files '' '' "$prefix" ;;
	data) _elide_files '' yes "$prefix" ;;
	dir) _elide_files yes '' "$prefix" ;;
	pid) _elide_pids ;;
	tunable | command)
		_elide_list "$kind"
		_elide_offer "$prefix" "${list[@]}"
		;;
	executable)
		mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
		[[ $cur == */* ]] && _elide_files '' '' ''
		;;
	esac
}

# The command line up to the cursor as words[], joined where bash divides it at '=' and ':'.
_elide_words() {
	local line=${COMP_LINE:0:COMP_POINT} i word
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $line == [[:blank:]]* || $i -eq 0 ]]; then
			line=${line#"${line%%[![:blank:]]*}"}
			words+=("")
			first[${#words[@]} - 1]=$i
		fi
		[[ $line == "$word"* ]] || word=$line
		words[${#words[@]} - 1]+=$word
		line=${line:${#word}}
	done
}

_elide_options() {
	local line f
	while IFS= read -r line; do
		[[ $line == option$'\t'"$1"$'\t'* ]] || continue
		IFS=$'\t' read -r -a f <<<"$line"
		[[ ${f[4]} == required ]] && f[2]+==
		_elide_offer '' "${f[2]}"
	done <<<"$_elide_table"
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && _elide_open
}

# The operand number $2 of the command $1, whose first word is number $3 of the line.
_elide_operand() {
	local found kinds kind
	_elide_find operands "$1" || return
	kinds=("${found[@]:0:${#found[@]}-1}")
	[[ ${#kinds[@]} -gt 0 ]] || return
	kind=${kinds[$2]}
	[[ $kind || ${found[-1]} != more ]] || kind=${kinds[-1]}
	case $kind in
	word:*) _elide_value word "${kind#word:}" '' ;;
	*) _elide_value "$kind" - '' ;;
	esac
}

# The program at word $1 of COMP_WORDS completes its own arguments.
_elide_program() {
	if [[ $1 -eq $COMP_CWORD ]]; then
		_elide_value executable - ''
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	else
		_elide_files '' '' ''
	fi
}

_elide() {
	local IFS=$' \t\n' words first=() found command cur i nr=0 options=yes kind prefix
	COMPREPLY=()
	_elide_words
	cur=${words[-1]}
	command=${words[1]}
	if [[ ${#words[@]} -eq 2 ]]; then
		_elide_value command - ''
		[[ $cur == -* ]] && _elide_offer '' --help --version
		return
	fi
	_elide_find operands "$command" || return
	kind=${found[0]}
	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		if [[ $options && ${words[i]} == -- ]]; then
			options=
		elif [[ $options && ${words[i]} == -?* ]]; then
			[[ ${words[i]} != *=* ]] && _elide_option "$command" "${words[i]}" || continue
			[[ ${found[0]} == required ]] || continue
			if ((++i == ${#words[@]} - 1)); then
				_elide_value "${found[1]}" "${found[2]}" ''
				_elide_trim
				return
			fi
		elif [[ $kind == program ]]; then
			_elide_program "${first[i]}"
			return
		else
			((nr++))
		fi
	done
	if [[ $options && $cur == --*=* ]]; then
		prefix=${cur%%=*}
		_elide_option "$command" "$prefix" && [[ ${found[0]} != no ]] &&
			_elide_value "${found[1]}" "${found[2]}" "$prefix="
	elif [[ $options && $cur == -* ]]; then
		_elide_options "$command"
	elif [[ $kind == program ]]; then
		_elide_program "${first[-1]}"
		return
	else
		_elide_operand "$command" $nr
	fi
	_elide_trim
}

# bash replaces the text after the last '=' or ':' if it divides words there.
_elide_trim() {
	local rest=$cur char cut=
	for char in = :; do
		[[ $COMP_WORDBREAKS == *"$char"* && $cur == *"$char"* ]] || continue
		rest=${cur##*"$char"}
		((${#cur} - ${#rest} > ${#cut})) && cut=${cur%"$rest"}
	done
	COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}

complete -F _elide elide
