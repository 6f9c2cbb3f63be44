//! Pipes, colours, exit codes, and files that are larger than any disk.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::{Folder, Outcome, outcome, owned};

const GOOD: &str = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;

fn file(data_len: usize) -> Vec<u8> {
    let mut file = (GOOD.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(GOOD.as_bytes());
    file.resize(file.len() + data_len, 0);
    file
}

fn run_with_input(args: &[&str], input: &[u8]) -> Outcome {
    let mut command = crate::safetensors();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may have seen enough before it read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    outcome(child.wait_with_output().unwrap())
}

#[test]
fn standard_input() {
    let (code, stdout, stderr) = run_with_input(&["inspect", "-"], &file(8));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let end = "\nheader  54 bytes\nfile    70 bytes if complete; only the header was read\n";
    assert!(stdout.ends_with(end), "{stdout}");
    // What follows the header is not looked at by one, and counted by the other.
    assert_eq!(run_with_input(&["inspect", "-"], &file(0)), (code, stdout, stderr));
    for (data_len, expected) in [
        (8, (0, "-: ok, 1 tensor, 70 B\n", "")),
        (
            7,
            (
                1,
                "",
                "-: invalid: file ends before the last tensor does, 1 byte missing (at byte 69)\n",
            ),
        ),
        (
            100_008,
            (
                1,
                "",
                "-: invalid: file goes on behind the last tensor, 100000 bytes too many (at byte 70)\n",
            ),
        ),
    ] {
        assert_eq!(run_with_input(&["verify", "-"], &file(data_len)), owned(expected));
    }
    let (code, _, stderr) = run_with_input(&["inspect", "-"], &file(8)[..20]);
    let message = "-: invalid: file ends within the header, 42 bytes missing (at byte 20)\n";
    assert_eq!((code, stderr.as_str()), (1, message));
}

/// As `| head`: the reader goes away in the middle of the output.
#[test]
fn a_pipe_that_is_closed() {
    let folder = Folder::new();
    let mut header = String::from("{");
    for i in 0..50_000 {
        header += &format!(r#""{i}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}},"#);
    }
    header.pop();
    folder.write("f", &(header + "}"), 0).write("bad", "{", 0);
    for (args, expected) in [
        (&["inspect", "f"][..], 0),
        (&["inspect", "--json", "f"], 0),
        // What is left is checked all the same.
        (&["verify", "--json", "f", "f", "bad"], 1),
    ] {
        let mut command = folder.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut start = vec![0; 16];
        std::io::Read::read_exact(&mut stdout, &mut start).unwrap();
        drop(stdout);
        let (code, _, stderr) = outcome(child.wait_with_output().unwrap());
        assert_eq!((code, stderr.as_str()), (expected, ""));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_full() {
    let folder = Folder::new();
    folder.write("f", GOOD, 8);
    for args in [["inspect", "f"], ["verify", "f"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(args).stdout(full).output().unwrap();
        let message = "safetensors: cannot write: No space left on device (os error 28)\n";
        assert_eq!(outcome(output), owned((2, "", message)));
    }
}

#[test]
fn colours_when_forced() {
    let folder = Folder::new();
    folder.write("f", GOOD, 8).write("bad", "{", 0);
    let run = |command, variables: &[(&str, &str)]| {
        let mut process = folder.command([command, "f"]);
        outcome(process.envs(variables.iter().copied()).output().unwrap()).1
    };
    let plain = "dtype  shape     bytes    share  name\nF32    [2]        8 B   100.00%  w\n";
    let coloured = "\u{1b}[1mdtype  shape     bytes    share  name\u{1b}[0m\n\
        \u{1b}[36mF32  \u{1b}[0m  [2]        8 B   \u{1b}[2m100.00%\u{1b}[0m  w\n";
    assert!(run("inspect", &[]).starts_with(plain));
    assert!(run("inspect", &[("CLICOLOR_FORCE", "1")]).starts_with(coloured));
    assert!(run("inspect", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).starts_with(plain));
    let ok = "f: \u{1b}[32mok\u{1b}[0m, 1 tensor, 70 B\n";
    assert_eq!(run("verify", &[("CLICOLOR_FORCE", "1")]), ok);
}

#[test]
fn usage() {
    let folder = Folder::new();
    for args in [&[][..], &["inspect"], &["verify"], &["inspect", "a", "b"], &["--nonsense"]] {
        let (code, stdout, stderr) = folder.run(args);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(stderr.contains("Usage: safetensors"), "{stderr}");
    }
    let version = concat!("safetensors ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(folder.run(["--version"]), owned((0, version, "")));
    for command in ["inspect", "verify"] {
        let (code, stdout, stderr) = folder.run([command, "--help"]);
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert!(stdout.contains(&format!("Examples:\n  safetensors {command} ")), "{stdout}");
    }
}

/// 600 GB that are not there: only the header is.
#[test]
#[cfg(unix)]
fn six_hundred_gigabytes() {
    const LEN: u64 = 600_000_000_000;
    let folder = Folder::new();
    let header = format!(r#"{{"w":{{"dtype":"U8","shape":[{LEN}],"data_offsets":[0,{LEN}]}}}}"#);
    folder.write("f", &header, 0);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("f")).unwrap();
    file.set_len(8 + header.len() as u64 + LEN).unwrap();
    let start = std::time::Instant::now();
    let (code, stdout, _) = folder.run(["inspect", "f"]);
    assert_eq!(code, 0);
    assert!(stdout.ends_with("file    600,000,000,083 bytes (600.0 GB)\n"), "{stdout}");
    let line = "f: ok, 1 tensor, 600.0 GB\n";
    assert_eq!(folder.run(["verify", "f"]), owned((0, line, "")));
    assert!(start.elapsed().as_secs() < 10, "the data was read");
}

/// A named pipe has no length either.
#[test]
#[cfg(unix)]
fn a_named_pipe() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.unwrap().success());
    let mut command = folder.command(["verify", "pipe"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    std::fs::write(folder.path("pipe"), file(8)).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "pipe: ok, 1 tensor, 70 B\n");
    assert!(child.wait().unwrap().success());
}
