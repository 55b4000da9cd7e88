//! Points in time as text: RFC 3339, UTC, always with `Z`.

/// `seconds` after 1970-01-01T00:00:00Z, with milliseconds.
///
/// The date is by the proleptic Gregorian calendar, counted in eras of 400 years from 1 March, so
/// that the leap day is the last of a year.
pub fn rfc3339(seconds: u64, milliseconds: u32) -> String {
    let days = seconds / 86_400;
    let second_of_day = seconds % 86_400;
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (
        second_of_day / 3600,
        second_of_day / 60 % 60,
        second_of_day % 60,
    );
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn days_around_leap_years_and_the_epoch() {
        // Checked against `date -u -d @N +%FT%TZ`.
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (1_796_083_200, "2026-12-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(seconds, 0), want);
        }
    }
}
