//! The lines of stress-ng's log: `stress-ng: LEVEL: [PID] TEXT`. The level of the metrics was `info`
//! until 2023 and is `metrc` since.

use crate::workload::text::Line;

/// One line of the log.
pub(super) struct LogLine<'l> {
    /// `info`, `metrc`, `warn`, `fail`, `error`, ...
    pub(super) level: &'l str,
    pub(super) text: &'l str,
    pub(super) line: &'l Line,
}

/// The line without its prefix; `None` where it is none of the log.
pub(super) fn log_line(line: &Line) -> Option<LogLine<'_>> {
    let (_, rest) = line.text.split_once("stress-ng: ")?;
    let (before, after) = rest.split_once('[')?;
    let (pid, text) = after.split_once(']')?;
    let is_number = !pid.is_empty() && pid.chars().all(|c| c.is_ascii_digit());
    // A time may stand before the level (`--timestamp`).
    let level = before
        .trim()
        .trim_end_matches(':')
        .rsplit([' ', ':'])
        .next()?;
    is_number.then(|| LogLine {
        level,
        text: text.trim(),
        line,
    })
}

/// Seconds in `1 min, 10.23 secs`, `60 second`, `2.02s`; `None` where nothing is a time.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut found = false;
    let spaced = text.replace([',', '('], " ");
    let mut words = spaced.split_whitespace();
    while let Some(word) = words.next() {
        let split = word
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(word.len());
        let (number, attached) = word.split_at(split);
        let Ok(number) = number.parse::<f64>() else {
            if found {
                break;
            }
            continue;
        };
        let unit = if attached.is_empty() {
            words.next().unwrap_or("")
        } else {
            attached
        };
        let factor = match unit.trim_end_matches('s') {
            "" | "sec" | "second" => 1.0,
            "m" | "min" | "minute" => 60.0,
            "h" | "hour" => 3600.0,
            "d" | "day" => 86_400.0,
            _ => continue,
        };
        total += number * factor;
        found = true;
        if factor == 1.0 {
            break;
        }
    }
    found.then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::text::lines_of;

    #[test]
    fn both_levels_of_metrics_and_a_time_before_them_are_read() {
        for (text, level) in [
            ("stress-ng: info:  [2759] memrate 1", "info"),
            ("stress-ng: metrc: [2759] memrate 1", "metrc"),
            ("stress-ng: 10:11:12.13 metrc: [2759] memrate 1", "metrc"),
        ] {
            let lines = lines_of(text);
            let line = log_line(&lines[0]).unwrap();
            assert_eq!((line.level, line.text), (level, "memrate 1"));
        }
        assert!(log_line(&lines_of("stress-ng: unrecognized option")[0]).is_none());
    }

    #[test]
    fn durations_of_every_version_are_seconds() {
        assert_eq!(seconds("1 min, 10.23 secs"), Some(70.23));
        assert_eq!(seconds("60.06s (1 min, 0.06 secs)"), Some(60.06));
        assert_eq!(seconds("setting to a 2 second run per stressor"), Some(2.0));
        assert_eq!(seconds("1.01 sec"), Some(1.01));
        assert_eq!(seconds("no time"), None);
    }
}
