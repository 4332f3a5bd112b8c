//! `hostnet-bench [--quick] [--count] [--change TEXT] [--json FILE]`: runs all benchmarks and prints a table.

use hostnet_bench::{counted, json, run, server, table, Size};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: hostnet-bench [--quick] [--count] [--change TEXT] [--json FILE]

  --quick        tiny sizes: shows that every benchmark works, measures nothing
  --count        counts instructions under valgrind instead, and records them
  --change TEXT  what changed since the last record, in the words of the changelog
  --json FILE    also writes the rows to FILE
";

/// Command-line options.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    size: Size,
    count: bool,
    change: Option<String>,
    json: Option<PathBuf>,
    help: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        // The benchmark "pairs" and counting start this program again as their worker.
        Some(server::WORKER) => {
            server::work();
            Ok(())
        }
        Some(counted::WORKER) => counted::work(&arguments[1..]),
        _ => parse(arguments.into_iter()).and_then(|options| act(&options)),
    };
    done.map_or_else(
        |message| {
            eprintln!("hostnet-bench: {message}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}

fn act(options: &Options) -> Result<(), String> {
    if options.help {
        print!("{USAGE}");
        return Ok(());
    }
    if options.count {
        return count(options.change.as_deref());
    }
    let rows = run(options.size, |group| eprintln!("{group} ..."));
    print!("{}", table(&rows));
    let Some(path) = &options.json else { return Ok(()) };
    std::fs::write(path, json(&rows)).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Counts instructions, adds them to the record, and prints the record.
fn count(change: Option<&str>) -> Result<(), String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("crates are in a folder")?;
    let path = crates.join("bench/counts.json");
    let mut record = counted::Record::read(&path)?;
    // The sources come first: what is edited while counting was not counted.
    let sources = counted::fingerprint(crates).map_err(|error| format!("cannot read the sources: {error}"))?;
    let counts = counted::count_all(|case| eprintln!("{case} ..."))?;
    let change = change.unwrap_or("not named").to_owned();
    record.add(counted::RecordRow { change, compiler: compiler(), sources, counts });
    record.write(&path)?;
    print!("{}", record.table());
    Ok(())
}

/// Returns the version of the Rust compiler, or `unknown`.
fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.as_deref().and_then(|text| text.split_whitespace().nth(1));
    version.unwrap_or("unknown").to_owned()
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { size: Size::Full, count: false, change: None, json: None, help: false };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.size = Size::Quick,
            "--count" => options.count = true,
            "--change" => options.change = Some(arguments.next().ok_or("--change needs a text")?),
            "--json" => options.json = Some(arguments.next().ok_or("--json needs a file")?.into()),
            "--help" | "-h" => options.help = true,
            _ => return Err(format!("unknown argument {argument}\n{USAGE}")),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Options, String> {
        parse(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn arguments_are_checked() {
        let none = Options { size: Size::Full, count: false, change: None, json: None, help: false };
        assert_eq!(parsed(&[]), Ok(none));
        let both = Options { size: Size::Quick, count: false, change: None, json: Some("a.json".into()), help: false };
        assert_eq!(parsed(&["--json", "a.json", "--quick"]), Ok(both));
        let counted = Options { size: Size::Full, count: true, change: Some("b".into()), json: None, help: false };
        assert_eq!(parsed(&["--count", "--change", "b"]), Ok(counted));
        for wrong in ["--json", "--change", "--fast"] {
            assert!(parsed(&[wrong]).is_err());
        }
    }
}
