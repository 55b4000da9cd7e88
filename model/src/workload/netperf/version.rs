//! Versions of client and server, compared before a run: an old client against a new server only
//! says "Connection refused".

/// The version in what `netperf -V` and `netserver -V` print: `Netperf version 2.7.0`.
pub fn netperf_version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(" version ")?;
    let version = rest.split_whitespace().next()?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(version)
}

/// The words for two versions that do not talk to each other: the first two numbers differ.
pub fn versions_differ(client: &str, server: &str) -> Option<String> {
    let series = |v: &str| -> Vec<String> { v.split('.').take(2).map(str::to_owned).collect() };
    (series(client) != series(server))
        .then(|| format!("netperf {client} vs netserver {server}: install the same version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Case B10: a 2.5.0 client against a 2.7.0 server; 2.7.1 against 2.7.0 works.
    #[test]
    fn another_series_is_named_before_the_connection_is_refused() {
        assert_eq!(netperf_version("Netperf version 2.7.0\n"), Some("2.7.0"));
        assert_eq!(
            versions_differ("2.5.0", "2.7.0").as_deref(),
            Some("netperf 2.5.0 vs netserver 2.7.0: install the same version")
        );
        assert_eq!(versions_differ("2.7.1", "2.7.0"), None);
    }
}
