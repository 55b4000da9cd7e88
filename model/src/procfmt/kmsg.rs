//! Records of `/dev/kmsg`: `6,339,5140900,-;text`.

/// A line of the kernel's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// 0 (emergency) to 7 (debug).
    pub level: u8,
    /// Grows by one a record.
    pub number: u64,
    /// Microseconds since boot.
    pub at_us: u64,
    /// What it says.
    pub text: String,
}

/// The level of warnings; below it are errors.
const WARNING: u8 = 4;

/// Words of lines that matter to a measurement at whatever level they are logged.
const MATTERS: [&str; 8] = [
    "throttl",
    "clocksource",
    "soft lockup",
    "hard lockup",
    "rcu",
    "hung task",
    "oom",
    "mce",
];

/// Reads records; continuation lines (they begin with a space) and anything else are passed over.
pub fn parse_kmsg(text: &str) -> Vec<KernelLine> {
    let record = |line: &str| {
        let (head, text) = line.split_once(';')?;
        let mut fields = head.split(',');
        let priority: u64 = fields.next()?.parse().ok()?;
        Some(KernelLine {
            // The rest is the facility.
            level: (priority & 7) as u8,
            number: fields.next()?.parse().ok()?,
            at_us: fields.next()?.parse().ok()?,
            text: text.to_owned(),
        })
    };
    text.lines().filter_map(record).collect()
}

impl KernelLine {
    /// Whether someone who measures should hear of it: warnings and worse, and certain subjects.
    pub fn matters(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        self.level <= WARNING || MATTERS.iter().any(|w| text.contains(w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_throttling_matter() {
        let text = "6,339,5140900,-;NET: Registered PF_VSOCK\n SUBSYSTEM=net\n4,340,5150000,-;workqueue: hogged CPU\n6,341,5160000,-;CPU0: Core temperature above threshold, cpu clock throttled\n30,342,5170000,-;user text\njunk\n";
        let lines = parse_kmsg(text);
        assert_eq!(lines.len(), 4);
        assert_eq!((lines[3].level, lines[3].number), (6, 342));
        let matter: Vec<u64> = lines
            .iter()
            .filter(|l| l.matters())
            .map(|l| l.number)
            .collect();
        assert_eq!(matter, [340, 341]);
    }
}
