//! Which domains say nothing new and go (`sd_degenerate`, `sd_parent_degenerate`,
//! `cpu_attach_domain`).

use super::build::Draft;
use super::flags::SdFlags;

/// Whether a domain with nothing below it is of no use.
fn sd_degenerate(draft: &Draft, one_group: bool) -> bool {
    if draft.span.len() == 1 {
        return true;
    }
    if draft.flags.any(SdFlags::NEEDS_GROUPS) && !one_group {
        return false;
    }
    !draft.flags.has(SdFlags::WAKE_AFFINE)
}

/// Whether a domain adds nothing to its child.
fn sd_parent_degenerate(child: &Draft, parent: &Draft, one_group: bool) -> bool {
    if sd_degenerate(parent, one_group) {
        return true;
    }
    if child.span != parent.span {
        return false;
    }
    let flags = match one_group {
        true => parent.flags.without(SdFlags::NEEDS_GROUPS),
        false => parent.flags,
    };
    flags.without(child.flags) == SdFlags::NONE
}

/// Drops the domains of one CPU that degenerate. A dropped parent hands `PREFER_SIBLING` down.
pub(super) fn degenerate(chain: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<Draft> = Vec::with_capacity(chain.len());
    // Groups are the child's spans as they were built: one where the level below spans as much.
    let mut below: Option<usize> = None;
    for draft in chain {
        let weight = draft.span.len();
        let one_group = below.unwrap_or(1) == weight;
        below = Some(weight);
        match kept.last_mut() {
            Some(child) if sd_parent_degenerate(child, &draft, one_group) => {
                if draft.flags.has(SdFlags::PREFER_SIBLING) {
                    child.flags |= SdFlags::PREFER_SIBLING;
                }
            }
            _ => kept.push(draft),
        }
    }
    // The lowest is looked at last, as the kernel does.
    let lowest_goes = (kept.first()).is_some_and(|lowest| {
        let one_group = lowest.span.len() == 1;
        sd_degenerate(lowest, one_group)
    });
    if lowest_goes {
        kept.remove(0);
    }
    kept
}
