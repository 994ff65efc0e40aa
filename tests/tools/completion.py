#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, completion.sh runs it
"""Types lines in a shell on a terminal and has it complete them: completion.py SHELL SCRIPT DIR

SHELL is bash or zsh, SCRIPT the completion of elide for it, DIR where it runs. For each line of
standard input, TEXT<TAB>WORD..., all completions of TEXT are inserted and the line is entered. It
must end in these words, apart from what stands before '=' or ':' in them; a last word "..." stands
for any more. Prints a line a test. Must never run a program called elide: a function of the shell
is, which prints its arguments.
"""
import os
import pty
import re
import select
import sys

DEADLINE_S = 60
# What enters the completions of the word before the cursor: M-* of bash, below for zsh.
INSERT = {"bash": b"\x1b*", "zsh": b"\x18a"}
COMMON = """elide() { printf '%s\\n' BEGIN "$@" END; }
"""
START = {
    # A bracketed paste mode would put sequences around the prompt.
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
SETUP = {
    "bash": """bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'
bind 'set show-all-if-ambiguous on'; stty -echo cols 4000; %(library)s source %(script)s
""",
    "zsh": """unset zle_bracketed_paste; stty cols 4000; LISTMAX=100000; unsetopt promptsp beep
fpath=(%(dir)s $fpath); autoload -Uz compinit; compinit -u -d %(dump)s
zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:all-matches::::' completer _all_matches _complete
""",
}


class Shell:
    def __init__(self, shell, script, directory):
        self.insert = INSERT[shell]
        self.text = b""
        pid, self.fd = pty.fork()
        if not pid:
            env = dict(os.environ, TERM="dumb", PS1="", PROMPT="", INPUTRC="/dev/null")
            env.pop("ZDOTDIR", None)
            os.chdir(directory)
            os.execvpe(START[shell][0], START[shell], env)
        library = "/usr/share/bash-completion/bash_completion"
        setup = COMMON + SETUP[shell] % {
            "script": script, "dir": os.path.dirname(script), "dump": directory + "/.dump",
            "library": "source %s;" % library if os.path.exists(library) else ""}
        with open(directory + "/.setup", "w") as f:
            f.write(setup)
        # The marker is written in two, so that the echo of the line is not taken for it.
        self.send(b". ./.setup; PS1= PROMPT=; printf '%s%s\\n' REA DY\n")
        self.wait(b"READY")

    def send(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def wait(self, marker):
        """What is printed up to the marker."""
        while marker not in self.text:
            if not select.select([self.fd], [], [], DEADLINE_S)[0]:
                raise TimeoutError("after %d s: %r" % (DEADLINE_S, self.text))
            try:
                self.text += os.read(self.fd, 65536)
            except OSError:
                raise EOFError("the shell has ended: %r" % self.text)
        before, self.text = self.text.split(marker, 1)
        return before

    def complete(self, line):
        self.send(line.encode() + self.insert)
        self.send(b"\n")
        self.wait(b"BEGIN\r\n")
        return self.wait(b"END\r\n").decode().replace("\r", "").split("\n")[:-1]


def check(shell, line, want):
    typed = line.split()[1:]
    if not line.endswith(" "):
        typed = typed[:-1]
    got = shell.complete(line)
    if got[:len(typed)] != typed:
        return "%s: the words before have changed: %s" % (line, got)
    # With the cursor behind '=' bash inserts the completions without what stands before it.
    got = [re.sub(r".*[=:](?=.)", "", word).rstrip("/") for word in got[len(typed):]]
    open_end = want[-1:] == ["..."]
    want = want[:-1] if open_end else want
    missing = [word for word in want if word not in got]
    more = [word for word in got if word not in want]
    if missing or (more and not open_end):
        return "%s: missing %s, too many %s" % (line, missing, more)
    return None


def main():
    name, script, directory = sys.argv[1:]
    shell = Shell(name, script, directory)
    failed = 0
    for row in sys.stdin:
        line, *want = row.rstrip("\n").split("\t")
        why = check(shell, line, want[0].split(" ") if want else [])
        test = "%s: %s" % (name, line)
        print("not ok %s: %s" % (test, why) if why else "ok %s" % test)
        failed += bool(why)
    shell.send(b"exit\n")
    os.close(shell.fd)
    return failed > 0


sys.exit(main())
