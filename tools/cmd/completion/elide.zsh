# SPDX-License-Identifier: GPL-2.0-or-later
# The functions of the completion for zsh; elide completion zsh prints $_elide_table before them.
# Must never run elide.

# _elide_rows FIELD... - the lines that begin with these, without them, into reply.
_elide_rows() {
	local begin=${(pj:\t:)@}$'\t' line
	reply=()
	for line in "${(@f)_elide_table}"; do
		[[ $line == "$begin"* ]] && reply+=("${line#"$begin"}")
	done
}

# _elide_names FIELD... - the next field of each such line into reply.
_elide_names() {
	_elide_rows "$@"
	reply=("${(@)reply%%$'\t'*}")
}

_elide_commands() {
	local -a reply
	_elide_rows command
	reply=("${(@)reply/$'\t'/:}")
	_describe -t commands command reply
}

_elide_tunables() {
	local -a reply
	_elide_names tunable
	_wanted tunables expl tunable compadd -a reply
}

# NAME=VALUE
_elide_settings() {
	local -a reply fields
	local name
	if compset -P 1 '*='; then
		name=${${IPREFIX%=}##*=}
		_elide_rows tunable ${(U)name#ELIDE_} - - -
		fields=("${(@ps:\t:)reply[1]}")
		_elide_values "$fields[1]" "$fields[2]" $name
	else
		_elide_names tunable
		_wanted tunables expl tunable compadd -S = -a reply
	fi
}

# MODEL[:NUMBER=VALUE,...] or list[:MODEL]
_elide_models() {
	local -a reply
	if compset -P 1 'list:'; then
		_elide_names model
		_wanted models expl machine compadd -a reply
	elif compset -P 1 '*:'; then
		compset -P '*,'
		[[ $PREFIX == *=* ]] && return 1
		_elide_names number
		_wanted numbers expl number compadd -S = -a reply
	else
		_elide_names model
		reply+=(list)
		_wanted models expl machine compadd -a reply
	fi
}

# POLICY[:NUMBER=VALUE,...]; _elide_policies POLICY|...
_elide_policies() {
	local -a reply
	local name=${PREFIX%%:*}
	if compset -P 1 '*:'; then
		compset -P '*,'
		[[ $PREFIX == *=* ]] && return 1
		_elide_names policy $name
		_wanted numbers expl number compadd -S = -a reply
	else
		_wanted policies expl policy compadd -- ${(s:|:)1}
	fi
}

# Files that elide has written, or all if there are none. The file NAME of a running process is called
# .NAME.live: in the current directory it is offered as NAME.
_elide_data() {
	local expl
	local -a live=(.*.live(N.e:_elide_is_data:))
	live=(${${live#.}%.live})
	[[ $#live -gt 0 ]] && _wanted live expl 'data file of a running process' compadd -a live
	_wanted data expl 'data file' _files -g '*(-.e:_elide_is_data:)' || _files
}

_elide_is_data() {
	local magic
	LC_ALL=C read -r -k 8 -u 0 magic 2>/dev/null <"$REPLY"
	[[ $magic == ELDEDATA ]]
}

# Processes with the library, or all if there are none.
_elide_pids() {
	local -a reply
	reply=(/proc/<->/maps(Ne+'grep -qs /libelide-preload.so $REPLY'+:h:t))
	[[ $#reply -gt 0 ]] || reply=(/proc/<->(N:t))
	_wanted pids expl 'process id' compadd -a reply
}

# _elide_values KIND VALUES MESSAGE
_elide_values() {
	local expl
	case $1 in
	word) _wanted values expl "$3" compadd -- ${(s:|:)2} ;;
	set) _sequence _wanted values expl "$3" compadd - ${(s:|:)2} ;;
	setting) _elide_settings ;;
	model) _elide_models ;;
	policy) _elide_policies $2 ;;
	file) _files ;;
	data) _elide_data ;;
	dir) _files -/ ;;
	pid) _elide_pids ;;
	tunable) _elide_tunables ;;
	command) _elide_commands ;;
	executable) _wanted programs expl program _command_names -e || _files -g '*(-*)' ;;
	*) _message "$3" ;;
	esac
}

_elide() {
	local -a reply fields specs kinds
	local line command kind end name help spec begin
	local context state state_descr
	typeset -A opt_args

	if ((CURRENT == 2)); then
		_elide_commands
		[[ $PREFIX == -* ]] && compadd -- --help --version
		return
	fi
	command=$words[2]
	words=("${(@)words[2,-1]}")
	((CURRENT--))
	_elide_rows operands $command
	[[ $#reply -gt 0 ]] || return 1
	kinds=("${(@ps:\t:)reply[1]}")
	end=$kinds[-1]
	kinds=("${(@)kinds[1,-2]}")
	_elide_rows option $command
	for line in "${reply[@]}"; do
		# NAME LETTER ARGUMENT KIND VALUES HELP
		fields=("${(@ps:\t:)line}")
		help=${${${fields[6]//\\/\\\\}//\[/\\[}//\]/\\]}
		help=${help//:/\\:}
		spec=
		[[ $fields[3] == no ]] ||
			spec=":${fields[1]#--}: _elide_values $fields[4] ${(q)fields[5]} ${fields[1]#--}"
		[[ $fields[3] == optional ]] && spec=:$spec
		name=$fields[1]
		[[ $fields[3] == required ]] && name+='='
		[[ $fields[3] == optional ]] && name+='=-'
		# '*' where an option may be given again; else not both of its names.
		begin="($fields[1] $fields[2])"
		[[ $help == *'given again'* ]] && begin='*'
		specs+=("$begin$name""[$help]$spec")
		[[ $fields[2] == - ]] || specs+=("$begin$fields[2]""[$help]$spec")
	done
	for kind in "${kinds[@]}"; do
		case $kind in
		program) specs+=('(-):program: _command_names -e' '*::arguments: _normal') ;;
		word:*) specs+=(":what: _elide_values word ${(q)kind#word:} what") ;;
		*) specs+=(":$kind: _elide_values $kind - $kind") ;;
		esac
	done
	[[ $end == more ]] && specs[-1]="*$specs[-1]"
	_arguments -S -s : "${specs[@]}"
}

# Read by compinit the file is the function's first call; by source it defines it.
if [[ $funcstack[1] == _elide ]]; then
	_elide "$@"
elif (($+functions[compdef])); then
	compdef _elide elide
fi
