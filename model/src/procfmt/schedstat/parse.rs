//! Text of `/proc/schedstat` to counters. Keyed by CPU number: offline CPUs leave holes, and a CPU may
//! have no domain at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::layout::{CpuField, DomainField, Layout, layout_of};
use crate::cpuset::{CpuSet, CpuSetError};
use crate::id::CpuId;

/// The most lines of one unknown kind that are kept.
const UNKNOWN_LINES_KEPT: usize = 64;

/// One reading of `/proc/schedstat`.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedstat {
    /// How its lines are laid out.
    pub layout: &'static Layout,
    /// Jiffies; starts near 2^32 and is no wall time.
    pub timestamp: u64,
    /// In the order of the file, ascending on every kernel.
    pub cpus: Vec<CpuCounters>,
    /// Lines that no kernel of this version prints, by their first word without its number.
    pub unknown: BTreeMap<String, Vec<String>>,
    /// What a reader of the numbers should know.
    pub warnings: Vec<String>,
}

/// What can be read of a version that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuLines {
    /// The version stated.
    pub version: u32,
    /// Numbers of the `cpuN` lines.
    pub cpus: BTreeMap<CpuId, Box<[u64]>>,
}

/// Counters of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuCounters {
    /// Which CPU.
    pub cpu: CpuId,
    /// In the order of the layout.
    pub values: Box<[u64]>,
    /// From the smallest domain to the widest; empty for an isolated CPU.
    pub domains: Vec<DomainCounters>,
}

/// Counters of one domain of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainCounters {
    /// The number behind `domain`.
    pub level: u32,
    /// The kernel's name: printed from version 17 on; before, known from debugfs or the topology.
    pub name: Option<Arc<str>>,
    /// The CPUs it spans.
    pub span: Arc<CpuSet>,
    /// In the order of the layout.
    pub values: Box<[u64]>,
}

/// Text that is no `/proc/schedstat` this program reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchedstatError {
    /// The first line is no `version N`.
    #[error("no `version` line at the start of schedstat: the text begins `{0}`")]
    NoVersion(String),
    /// A version whose layout nobody told this program.
    #[error(
        "schedstat version {0} is not known (14 to 17 are); the raw text is kept, only its cpu lines can be read"
    )]
    UnknownVersion(u32),
    /// No `timestamp N` line.
    #[error("schedstat has no `timestamp` line")]
    NoTimestamp,
    /// A line with too many or too few numbers.
    #[error("version {version} {kind} line has {found} numbers, want {want} (line {line})")]
    FieldCount {
        /// Of the file.
        version: u32,
        /// `cpu` or `domain`.
        kind: &'static str,
        /// Numbers in the line.
        found: usize,
        /// Numbers that the version has.
        want: usize,
        /// From 1.
        line: usize,
    },
    /// A domain line with a name before version 17, or without one from then on.
    #[error(
        "version {version} domain line {has} a name (line {line}): not what a released kernel prints"
    )]
    Name {
        /// Of the file.
        version: u32,
        /// `has` or `lacks`.
        has: &'static str,
        /// From 1.
        line: usize,
    },
    /// Something that is no number.
    #[error("`{word}` is not a number (line {line} of schedstat)")]
    Number {
        /// What stands there.
        word: String,
        /// From 1.
        line: usize,
    },
    /// A mask that is none.
    #[error("bad domain mask in line {line} of schedstat")]
    Mask {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        err: CpuSetError,
    },
    /// The last line ends in the middle.
    #[error("truncated: line {line}, the last, ends after {found} of {want} numbers")]
    Truncated {
        /// From 1.
        line: usize,
        /// Numbers in it.
        found: usize,
        /// Numbers that it should have.
        want: usize,
    },
    /// A domain line before the first cpu line.
    #[error("line {0} of schedstat is a domain line before any cpu line")]
    OrphanDomain(usize),
    /// Two lines of one CPU.
    #[error("cpu{0} has two lines in schedstat")]
    DuplicateCpu(u32),
}

/// Reads a whole file.
///
/// # Errors
/// Versions outside 14 to 17, lines that do not have the numbers of their version, a last line cut.
pub fn parse(text: &str) -> Result<Schedstat, SchedstatError> {
    let version = parse_version(text)?;
    let layout = layout_of(version).ok_or(SchedstatError::UnknownVersion(version))?;
    let mut reader = Reader {
        layout,
        spans: HashMap::new(),
        names: HashMap::new(),
        out: Schedstat {
            layout,
            timestamp: 0,
            cpus: Vec::new(),
            unknown: BTreeMap::new(),
            warnings: Vec::new(),
        },
    };
    let mut timestamp = None;
    let cut_line = (!text.ends_with('\n')).then(|| text.lines().count());
    for (index, line) in text.lines().enumerate().skip(1) {
        if let Some(jiffies) = line.strip_prefix("timestamp ") {
            timestamp = Some(number(jiffies.trim(), index + 1)?);
            continue;
        }
        let cut = cut_line == Some(index + 1);
        reader.line(line, index + 1).map_err(|err| match err {
            SchedstatError::FieldCount {
                found, want, line, ..
            } if cut && found < want => SchedstatError::Truncated { line, found, want },
            other => other,
        })?;
    }
    reader.out.timestamp = timestamp.ok_or(SchedstatError::NoTimestamp)?;
    if !text.ends_with('\n') {
        let note = "the last line has no end: its last number may be cut";
        reader.out.warnings.push(note.to_owned());
    }
    reader.finish()
}

/// The `cpuN` lines alone, for versions past the last one known: their nine numbers have not changed
/// since version 15. Lines with another count are left out.
///
/// # Errors
/// No `version` line.
pub fn parse_cpu_lines_of_any_version(text: &str) -> Result<CpuLines, SchedstatError> {
    let version = parse_version(text)?;
    let want = if version <= 14 { 12 } else { 9 };
    let cpu_line = |line: &str| -> Option<(CpuId, Box<[u64]>)> {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let cpu = CpuId(words.next()?.parse().ok()?);
        let values = words
            .map(|w| w.parse().ok())
            .collect::<Option<Vec<u64>>>()?;
        (values.len() == want).then(|| (cpu, values.into_boxed_slice()))
    };
    let cpus = text.lines().filter_map(cpu_line).collect();
    Ok(CpuLines { version, cpus })
}

fn parse_version(text: &str) -> Result<u32, SchedstatError> {
    let first = text.lines().next().unwrap_or("");
    first
        .strip_prefix("version ")
        .and_then(|v| v.trim().parse().ok())
        .ok_or_else(|| SchedstatError::NoVersion(first.chars().take(60).collect()))
}

struct Reader<'a> {
    layout: &'static Layout,
    // The CPUs of a domain all print the same mask: each is read once.
    spans: HashMap<&'a str, Arc<CpuSet>>,
    names: HashMap<&'a str, Arc<str>>,
    out: Schedstat,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str, at: usize) -> Result<(), SchedstatError> {
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        let kind = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let index = || head[kind.len()..].parse::<u32>().ok();
        match (kind, index()) {
            ("cpu", Some(cpu)) => self.cpu_line(CpuId(cpu), rest, at),
            ("domain", Some(level)) => self.domain_line(level, rest, at),
            ("", _) if line.trim().is_empty() => Ok(()),
            _ => {
                let kept = self.out.unknown.entry(kind.to_owned()).or_default();
                if kept.len() < UNKNOWN_LINES_KEPT {
                    kept.push(line.to_owned());
                }
                Ok(())
            }
        }
    }

    fn cpu_line(&mut self, cpu: CpuId, rest: &str, at: usize) -> Result<(), SchedstatError> {
        let values = self.numbers(rest, "cpu", self.layout.cpu.len(), at)?;
        self.out.cpus.push(CpuCounters {
            cpu,
            values,
            domains: Vec::new(),
        });
        Ok(())
    }

    fn domain_line(&mut self, level: u32, rest: &'a str, at: usize) -> Result<(), SchedstatError> {
        let version = self.layout.version;
        let (first, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        // A name may be hexadecimal digits by chance; a mask has at least two words behind it.
        let named = self.layout.named;
        let looks_like_mask = first.bytes().all(|b| b.is_ascii_hexdigit() || b == b',');
        if !named && !looks_like_mask {
            return Err(SchedstatError::Name {
                version,
                has: "has",
                line: at,
            });
        }
        let (name, mask, numbers) = if named {
            let (mask, numbers) = behind.split_once(' ').unwrap_or((behind, ""));
            if looks_like_mask && count_words(behind) <= self.layout.domain_len() {
                return Err(SchedstatError::Name {
                    version,
                    has: "lacks",
                    line: at,
                });
            }
            (Some(first), mask, numbers)
        } else {
            (None, first, behind)
        };
        let values = self.numbers(numbers, "domain", self.layout.domain_len(), at)?;
        let span = match self.spans.get(mask) {
            Some(span) => Arc::clone(span),
            None => {
                let set = CpuSet::parse_mask(mask)
                    .map_err(|err| SchedstatError::Mask { line: at, err })?;
                Arc::clone(self.spans.entry(mask).or_insert(Arc::new(set)))
            }
        };
        let name = name.map(|n| Arc::clone(self.names.entry(n).or_insert_with(|| n.into())));
        let cpu = self
            .out
            .cpus
            .last_mut()
            .ok_or(SchedstatError::OrphanDomain(at))?;
        cpu.domains.push(DomainCounters {
            level,
            name,
            span,
            values,
        });
        Ok(())
    }

    fn numbers(
        &self,
        text: &str,
        kind: &'static str,
        want: usize,
        at: usize,
    ) -> Result<Box<[u64]>, SchedstatError> {
        let mut values = Vec::with_capacity(want);
        read_numbers(text, &mut values).map_err(|word| SchedstatError::Number {
            word: word.chars().take(40).collect(),
            line: at,
        })?;
        if values.len() == want {
            return Ok(values.into_boxed_slice());
        }
        Err(SchedstatError::FieldCount {
            version: self.layout.version,
            kind,
            found: values.len(),
            want,
            line: at,
        })
    }

    fn finish(mut self) -> Result<Schedstat, SchedstatError> {
        let mut seen = CpuSet::new();
        for cpu in &self.out.cpus {
            if seen.contains(cpu.cpu) {
                return Err(SchedstatError::DuplicateCpu(cpu.cpu.0));
            }
            seen.insert(cpu.cpu);
        }
        for (kind, lines) in &self.out.unknown {
            self.out.warnings.push(format!(
                "{} `{kind}` line(s) are not of schedstat version {}: kept aside",
                lines.len(),
                self.layout.version
            ));
        }
        Ok(self.out)
    }
}

fn count_words(text: &str) -> usize {
    text.split_ascii_whitespace().count()
}

/// Digits of which any number fits 64 bits.
const SAFE_DIGITS: usize = 19;

/// Reads numbers parted by blanks; the first word that is none is the error. By bytes, as a snapshot
/// of a big machine has 70,000 of them.
fn read_numbers<'a>(text: &'a str, values: &mut Vec<u64>) -> Result<(), &'a str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let mut value = 0_u64;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            value = value
                .wrapping_mul(10)
                .wrapping_add(u64::from(bytes[at] - b'0'));
            at += 1;
        }
        let ended = bytes.get(at).is_none_or(u8::is_ascii_whitespace);
        if ended && at - start <= SAFE_DIGITS {
            values.push(value);
            continue;
        }
        let word = text[start..].split_ascii_whitespace().next().unwrap_or("");
        values.push(word.parse().map_err(|_| word)?);
        at = start + word.len();
    }
    Ok(())
}

fn number(word: &str, line: usize) -> Result<u64, SchedstatError> {
    word.parse().map_err(|_| SchedstatError::Number {
        word: word.chars().take(40).collect(),
        line,
    })
}

impl Schedstat {
    /// The CPUs that have a line.
    pub fn cpu_set(&self) -> CpuSet {
        self.cpus.iter().map(|c| c.cpu).collect()
    }

    /// What does not fit between this file and the list of online CPUs: a reader that stopped at the
    /// first page, a container that shows other CPUs in other files.
    pub fn check_online(&self, online: &CpuSet) -> Option<String> {
        let seen = self.cpu_set();
        (seen != *online).then(|| {
            format!(
                "schedstat has {} CPUs ({seen}), online are {} ({online}): different CPU sets",
                seen.len(),
                online.len()
            )
        })
    }

    /// Gives names to the domains of versions that print none. `name_of(cpu, level)` knows them from
    /// debugfs or the topology.
    pub fn name_domains(&mut self, name_of: impl Fn(CpuId, &DomainCounters) -> Option<String>) {
        for cpu in &mut self.cpus {
            for domain in &mut cpu.domains {
                if domain.name.is_none() {
                    domain.name = name_of(cpu.cpu, domain).map(Into::into);
                }
            }
        }
    }
}

impl CpuCounters {
    /// A counter, where the layout has it.
    pub fn get(&self, layout: &Layout, field: CpuField) -> Option<u64> {
        self.values.get(layout.cpu_column(field)?).copied()
    }
}

impl DomainCounters {
    /// A counter, where the layout has it.
    pub fn get(&self, layout: &Layout, field: DomainField) -> Option<u64> {
        self.values.get(layout.domain_column(field)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_and_words_that_are_none() {
        let read = |text| {
            let mut values = Vec::new();
            read_numbers(text, &mut values).map(|()| values)
        };
        assert_eq!(read(" 0 18446744073709551615  7"), Ok(vec![0, u64::MAX, 7]));
        assert_eq!(read("1 18446744073709551616"), Err("18446744073709551616"));
        assert_eq!(read("1 2x 3"), Err("2x"));
        assert_eq!(read("-1"), Err("-1"));
        assert_eq!(read("1 \u{e9}"), Err("\u{e9}"));
        assert_eq!(read(""), Ok(vec![]));
    }
}
