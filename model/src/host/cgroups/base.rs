//! Under which group an agent makes its own: one writer a subtree.

/// The leaf that the agent itself moves into, so that its unit's group may hand controllers down.
pub const SUPERVISOR: &str = "supervisor";

/// The group to work under, relative to the root of cgroup v2, no leading slash; empty: the root.
///
/// `own`: the agent's group by `/proc/self/cgroup`. `systemd`: systemd manages this machine.
/// `controllers`: what that group may hand down.
///
/// # Errors
/// systemd owns the place, or hands no cpu controller down to it: how to start the agent instead.
pub fn decide_base(own: &str, systemd: bool, controllers: &[String]) -> Result<String, String> {
    let own = own.trim_matches('/');
    let own = own
        .strip_suffix(SUPERVISOR)
        .map_or(own, |o| o.trim_end_matches('/'));
    if !systemd {
        return Ok(own.to_owned());
    }
    let unit = own.rsplit('/').next().unwrap_or(own);
    let advice = "start it as its own service with Delegate=yes, or by `systemd-run --scope -p Delegate=yes schedrig-agent ...`";
    let of_systemd = own.is_empty()
        || unit == "init.scope"
        || unit.ends_with(".slice")
        || (unit.starts_with("session-") && unit.ends_with(".scope"));
    if of_systemd {
        return Err(format!(
            "the agent runs in `/{own}`, which systemd manages: {advice}"
        ));
    }
    if !controllers.iter().any(|c| c == "cpu") {
        return Err(format!(
            "systemd hands no cpu controller down to `/{own}`: {advice}"
        ));
    }
    Ok(own.to_owned())
}
