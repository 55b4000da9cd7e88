//! `/sys/kernel/debug/sched/features`, flags of sched domains, and files that mark the word in force by
//! brackets.

/// A scheduler feature: `NO_` before its name prints it off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feature {
    /// Without `NO_`.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
}

impl Feature {
    /// From the kernel's token. No feature's own name begins with `NO_`; `NONTASK_CAPACITY` does not
    /// either.
    pub fn from_token(token: &str) -> Self {
        match token.strip_prefix("NO_") {
            Some(name) => Feature {
                name: name.to_owned(),
                on: false,
            },
            None => Feature {
                name: token.to_owned(),
                on: true,
            },
        }
    }

    /// The kernel's token: what is written to set it.
    pub fn token(&self) -> String {
        if self.on {
            self.name.clone()
        } else {
            format!("NO_{}", self.name)
        }
    }
}

/// Reads the features file, in the kernel's order.
pub fn parse_features(text: &str) -> Vec<Feature> {
    text.split_ascii_whitespace()
        .map(Feature::from_token)
        .collect()
}

/// Reads `domains/cpuN/domainM/flags`.
pub fn parse_domain_flags(text: &str) -> Vec<&str> {
    text.split_ascii_whitespace().collect()
}

/// The word in force: `[always] madvise never` is `always`, `full (lazy)` is `lazy`. `None` where no
/// word is marked.
pub fn bracketed(text: &str) -> Option<&str> {
    let marked = |word: &'_ str| {
        (word.starts_with('[') && word.ends_with(']'))
            || (word.starts_with('(') && word.ends_with(')'))
    };
    let word = text
        .split_ascii_whitespace()
        .find(|w| marked(w) && w.len() > 2)?;
    Some(&word[1..word.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_round_trip() {
        let text = "PLACE_LAG NO_NEXT_BUDDY NONTASK_CAPACITY";
        let features = parse_features(text);
        assert_eq!(
            features[1],
            Feature {
                name: "NEXT_BUDDY".into(),
                on: false
            }
        );
        assert!(features[2].on);
        let tokens: Vec<_> = features.iter().map(Feature::token).collect();
        assert_eq!(tokens.join(" "), text);
    }

    #[test]
    fn the_word_in_brackets() {
        assert_eq!(bracketed("[always] madvise never\n"), Some("always"));
        assert_eq!(bracketed("full (lazy) \n"), Some("lazy"));
        assert_eq!(bracketed("always madvise"), None);
    }
}
