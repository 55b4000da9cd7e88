//! Files of /proc.

use std::io;

use schedrig_model::procfmt::parse_proc_cgroup;

use super::files::HostFiles;

/// A thread with a real-time policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtThread {
    /// Its name.
    pub name: String,
    /// `FIFO`, `RR`.
    pub policy: &'static str,
    /// 1 to 99.
    pub priority: u32,
}

/// /proc of a machine.
#[derive(Debug)]
pub struct ProcFs<'a, F> {
    files: &'a F,
}

impl<'a, F: HostFiles> ProcFs<'a, F> {
    /// /proc among these files.
    pub fn new(files: &'a F) -> Self {
        ProcFs { files }
    }

    /// A file of /proc.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn read(&self, file: &str) -> io::Result<String> {
        self.files.read(&format!("proc/{file}"))
    }

    /// The v2 group a process is in, as `/proc/PID/cgroup` states it.
    ///
    /// # Errors
    /// The process is gone.
    pub fn cgroup_of(&self, pid: u32) -> io::Result<Option<String>> {
        let text = self.read(&format!("{pid}/cgroup"))?;
        Ok(parse_proc_cgroup(&text).map(str::to_owned))
    }

    /// Random per boot.
    pub fn boot_id(&self) -> Option<String> {
        let text = self.read("sys/kernel/random/boot_id").ok()?;
        Some(text.trim().to_owned())
    }

    /// Processes with a real-time thread of their own name, at most `most`: those that keep the cpu
    /// controller from being enabled where the kernel groups real-time tasks.
    pub fn rt_threads(&self, most: usize) -> Vec<RtThread> {
        let entries = self.files.list("proc").unwrap_or_default();
        let pids = entries.iter().filter_map(|e| e.name.parse::<u32>().ok());
        let thread = |pid: u32| parse_rt(&self.read(&format!("{pid}/stat")).ok()?);
        pids.filter_map(thread).take(most).collect()
    }
}

/// Reads policy and priority of `/proc/PID/stat`; `None` where it is no real-time thread.
fn parse_rt(stat: &str) -> Option<RtThread> {
    // The name may hold spaces and brackets: fields are counted from the last bracket.
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // Fields 40 and 41 of proc(5), of which the first two stand before the bracket.
    let (priority, policy) = (fields.get(37)?.parse().ok()?, *fields.get(38)?);
    let policy = match policy {
        "1" => "FIFO",
        "2" => "RR",
        _ => return None,
    };
    Some(RtThread {
        name,
        policy,
        priority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_thread_is_told_by_its_policy() {
        let fields = |priority: u32, policy: u32| {
            let middle = vec!["0"; 37].join(" ");
            format!(
                "77 (odd) name) {} {priority} {policy} 0 0",
                middle.replacen('0', "S", 1)
            )
        };
        let found = parse_rt(&fields(99, 2)).unwrap();
        assert_eq!(
            found,
            RtThread {
                name: "odd) name".into(),
                policy: "RR",
                priority: 99
            }
        );
        assert_eq!(parse_rt(&fields(0, 0)), None);
        assert_eq!(parse_rt("junk"), None);
    }
}
