//! `ssdlab completions`: the scripts with which shells complete commands, options and names.
//!
//! What clap writes knows commands, options and files. The names of plans, runs, drives, hosts and
//! metrics are asked of the program when they are needed (`ssdlab names`), as runs come and go.

use std::fmt::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use super::exit::Exit;
use super::names::NameKind;
use super::output;

/// Arguments of `ssdlab completions`.
#[derive(Debug, Args)]
pub struct CompletionsCommand {
    /// The shell.
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// The commands whose arguments are names, from which word of the line on.
const OF_COMMANDS: [(&[&str], u8, &[NameKind]); 5] = [
    (&["run", "check", "judge"], 2, &[NameKind::Plans]),
    (&["report", "method", "flip", "cut", "trace"], 2, &[NameKind::Runs, NameKind::Plans]),
    (&["compare"], 2, &[NameKind::Runs]),
    (&["drive"], 3, &[NameKind::Drives]),
    (&["host"], 3, &[NameKind::Hosts]),
];

/// The options whose values are names.
const OF_OPTIONS: [(&str, NameKind); 5] = [
    ("metric", NameKind::Metrics),
    ("drive", NameKind::Drives),
    ("like", NameKind::Drives),
    ("plan", NameKind::Plans),
    ("resume", NameKind::Runs),
];

impl CompletionsCommand {
    pub fn run(&self, mut line: Command) -> Exit {
        let shell: Shell = self.shell.parse().expect("one of the shells above");
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut line, "ssdlab", &mut script);
        let script = String::from_utf8(script).expect("a script is text");
        output::print(&match shell {
            Shell::Bash => with_names(&script, BASH),
            Shell::Zsh => with_names(&script, ZSH),
            _ => script + &of_fish(),
        });
        Exit::Done
    }
}

/// In bash, what clap offers comes first, as it offers nothing where a name may stand; a value of a
/// list such as `--metric a,b` is completed after its last comma.
const BASH: &str = r#"
_ssdlab() {
    local current="${COMP_WORDS[COMP_CWORD]}" kinds
    kinds=$(_ssdlab_kinds "${COMP_WORDS[1]}" "${COMP_WORDS[COMP_CWORD-1]}" "$COMP_CWORD" "$current")
    _ssdlab_words "$@"
    [[ -n $kinds ]] || return 0
    local names before=""
    names=$(ssdlab names $kinds 2>/dev/null)
    [[ $current == *,* ]] && before="${current%,*},"
    COMPREPLY+=($(compgen -P "$before" -W "$names" -- "${current##*,}"))
}
"#;

/// In zsh, names are offered beside what clap offers.
const ZSH: &str = r#"
_ssdlab() {
    local kinds
    local -a names
    kinds=$(_ssdlab_kinds "$words[2]" "$words[CURRENT-1]" "$((CURRENT-1))" "$words[CURRENT]")
    if [[ -n $kinds ]]; then
        names=(${(f)"$(ssdlab names ${=kinds} 2>/dev/null)"})
        compadd -a names
    fi
    _ssdlab_words "$@"
}
"#;

/// clap's function, renamed, with one around it that adds names.
fn with_names(script: &str, around: &str) -> String {
    let head = if around == ZSH { "#compdef ssdlab\n" } else { "" };
    let own = script.strip_prefix(head).unwrap_or(script);
    let own = own.replacen("_ssdlab() {", "_ssdlab_words() {", 1);
    // The function must be known before clap's last lines call or register it.
    format!("{head}{}{around}\n{own}", kinds())
}

/// A function of bash and zsh: the kinds of names for which the word at a place may stand, by the
/// command, the word before, the place, and the word.
fn kinds() -> String {
    let mut cases = String::new();
    for (option, kind) in OF_OPTIONS {
        let _ = writeln!(cases, "        --{option}) echo {}; return ;;", kind.word());
    }
    let mut commands = String::new();
    for (names, from, kinds) in OF_COMMANDS {
        let kinds: Vec<String> = kinds.iter().map(|kind| kind.word()).collect();
        let (names, kinds) = (names.join("|"), kinds.join(" "));
        let _ = writeln!(commands, "        {names}) [[ $3 -lt {from} ]] || echo {kinds} ;;");
    }
    format!(
        "_ssdlab_kinds() {{\n    case \"$2\" in\n{cases}        --*) return ;;\n    esac\n    \
         [[ $4 != -* ]] || return 0\n    case \"$1\" in\n{commands}    esac\n}}\n"
    )
}

/// fish asks for the names by itself.
fn of_fish() -> String {
    let mut lines = String::new();
    for (names, _, kinds) in OF_COMMANDS {
        let kinds: Vec<String> = kinds.iter().map(|kind| kind.word()).collect();
        let (names, kinds) = (names.join(" "), kinds.join(" "));
        let after = format!("-n \"__fish_seen_subcommand_from {names}\"");
        let asks = format!("-a \"(ssdlab names {kinds} 2>/dev/null)\"");
        let _ = writeln!(lines, "complete -c ssdlab {after} {asks}");
    }
    for (option, kind) in OF_OPTIONS {
        let _ = writeln!(
            lines,
            "complete -c ssdlab -l {option} -x -a \"(ssdlab names {} 2>/dev/null)\"",
            kind.word()
        );
    }
    lines
}

#[cfg(test)]
mod tests;
