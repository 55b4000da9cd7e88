//! From a command of the plan to a program on this machine.

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use schedrig_model::workload::Program;

/// A program that is not here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No directory of the search path has it.
    #[error("`{program}` is not installed: no directory of PATH has it")]
    NotInPath {
        /// Its name.
        program: String,
    },
    /// An absolute path that names nothing that could be executed.
    #[error("`{path}` is not an executable file")]
    NotExecutable {
        /// The path.
        path: String,
    },
}

/// A program and how it is told from another of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// What is executed.
    pub path: Utf8PathBuf,
    /// Arguments before those of the command.
    pub leading_args: Vec<String>,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: Option<String>,
}

/// What the agent allots to one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allotted {
    /// For `{port}`.
    pub port: Option<u16>,
    /// For `{server}`.
    pub server: Option<String>,
    /// For `{dir}`.
    pub dir: Option<String>,
}

/// An argument with what was allotted filled in.
pub fn fill_in(arg: &str, allotted: &Allotted) -> String {
    let mut out = arg.to_owned();
    let port = allotted.port.map(|p| p.to_string());
    let pairs = [
        ("{port}", port.as_deref()),
        ("{server}", allotted.server.as_deref()),
        ("{dir}", allotted.dir.as_deref()),
    ];
    for (placeholder, value) in pairs {
        if let Some(value) = value {
            out = out.replace(placeholder, value);
        }
    }
    out
}

/// The first executable file `program` in `search_path` (directories separated by colons).
pub fn find_in_path(program: &str, search_path: &str) -> Option<Utf8PathBuf> {
    let candidates = search_path
        .split(':')
        .filter(|d| !d.is_empty())
        .map(|d| Utf8Path::new(d).join(program));
    candidates.into_iter().find(|p| is_executable(p))
}

/// Where `program` is. `own_program` is this agent's executable, which holds the builtin workloads.
///
/// # Errors
/// It is nowhere.
pub fn resolve(
    program: &Program,
    own_program: &Utf8Path,
    search_path: &str,
) -> Result<ResolvedProgram, ResolveError> {
    let (path, leading_args) = match program {
        Program::Builtin(name) => (
            own_program.to_owned(),
            vec!["builtin".to_owned(), name.clone()],
        ),
        Program::Tool(name) if name.starts_with('/') => {
            let path = Utf8PathBuf::from(name);
            if !is_executable(&path) {
                return Err(ResolveError::NotExecutable { path: name.clone() });
            }
            (path, Vec::new())
        }
        Program::Tool(name) => {
            let found = find_in_path(name, search_path);
            (
                found.ok_or_else(|| ResolveError::NotInPath {
                    program: name.clone(),
                })?,
                Vec::new(),
            )
        }
    };
    let sha256 = std::fs::read(&path)
        .ok()
        .map(|bytes| hex(&Sha256::digest(bytes)));
    Ok(ResolvedProgram {
        path,
        leading_args,
        sha256,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn is_executable(path: &Utf8Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_builtin_is_this_program_again() {
        let own = Utf8Path::new("/bin/sh");
        let found = resolve(&Program::Builtin("stream".into()), own, "").unwrap();
        assert_eq!(
            (found.path.as_path(), found.leading_args),
            (own, vec!["builtin".into(), "stream".into()])
        );
        assert_eq!(found.sha256.unwrap().len(), 64);
    }

    #[test]
    fn a_missing_tool_is_named() {
        let error = resolve(
            &Program::Tool("no-such-tool".into()),
            Utf8Path::new("/bin/sh"),
            "/bin",
        )
        .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`no-such-tool` is not installed")
        );
        assert!(
            resolve(
                &Program::Tool("/etc/passwd".into()),
                Utf8Path::new("/bin/sh"),
                "/bin"
            )
            .is_err()
        );
    }

    #[test]
    fn placeholders_without_a_value_stay() {
        let allotted = Allotted {
            port: Some(7),
            ..Allotted::default()
        };
        assert_eq!(fill_in("-p{port},{server}", &allotted), "-p7,{server}");
    }
}
