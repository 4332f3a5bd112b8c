//! `hostnet-bench [--quick] [--json FILE]`: runs all benchmarks and prints a table.

use hostnet_bench::{json, run, table, Size};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: hostnet-bench [--quick] [--json FILE]

  --quick      tiny sizes: shows that every benchmark works, measures nothing
  --json FILE  also writes the rows to FILE
";

/// Command-line options.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    size: Size,
    json: Option<PathBuf>,
    help: bool,
}

fn main() -> ExitCode {
    // The benchmark "pairs" starts this program again as its worker.
    if std::env::args().nth(1).as_deref() == Some(hostnet_bench::server::WORKER) {
        hostnet_bench::server::work();
        return ExitCode::SUCCESS;
    }
    match parse(std::env::args().skip(1)).and_then(|options| act(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("hostnet-bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn act(options: &Options) -> Result<(), String> {
    if options.help {
        print!("{USAGE}");
        return Ok(());
    }
    let rows = run(options.size, |group| eprintln!("{group} ..."));
    print!("{}", table(&rows));
    let Some(path) = &options.json else { return Ok(()) };
    std::fs::write(path, json(&rows)).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { size: Size::Full, json: None, help: false };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.size = Size::Quick,
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
        assert_eq!(parsed(&[]), Ok(Options { size: Size::Full, json: None, help: false }));
        let both = Options { size: Size::Quick, json: Some("a.json".into()), help: false };
        assert_eq!(parsed(&["--json", "a.json", "--quick"]), Ok(both));
        assert!(parsed(&["--json"]).is_err());
        assert!(parsed(&["--fast"]).is_err());
    }
}
