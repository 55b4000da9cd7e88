//! cpufreq, cpuidle, SMT, hotplug and the scheduler's files, as drivers behave.

use schedrig_model::procfmt::{Feature, parse_features};

use super::{FakeMachine, State};

const CPU: &str = "sys/devices/system/cpu";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";

/// Which driver a machine has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Driver {
    IntelActive,
    IntelPassive,
    AmdActive,
    AmdPassive,
    AmdGuided,
    Acpi,
    None,
}

impl Driver {
    pub(crate) const ALL: [Driver; 7] = [
        Driver::IntelActive,
        Driver::IntelPassive,
        Driver::AmdActive,
        Driver::AmdPassive,
        Driver::AmdGuided,
        Driver::Acpi,
        Driver::None,
    ];
}

const GENERIC: &str = "conservative ondemand userspace powersave performance schedutil";
const EPP_WORDS: &str = "default performance balance_performance balance_power power";

/// A machine of four CPUs in two cores, with this cpufreq driver.
pub(crate) fn machine(driver: Driver) -> FakeMachine {
    let fake = FakeMachine::default();
    fake.put("proc/sys/kernel/random/boot_id", "boot-1\n");
    fake.put(
        "sys/kernel/debug/sched/features",
        "PLACE_LAG NO_NEXT_BUDDY WAKEUP_PREEMPTION \n",
    );
    fake.put("sys/kernel/debug/sched/base_slice_ns", "2800000\n");
    fake.put("sys/kernel/debug/sched/verbose", "N\n");
    fake.put(
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    );
    fake.put("proc/sys/kernel/numa_balancing", "1\n");
    fake.put("proc/sys/kernel/sched_schedstats", "0\n");
    fake.put("proc/sys/kernel/core_pattern", "\n");
    fake.put("dev/cpu_dma_latency", "");
    for (irq, cpus) in [(1, "0-3"), (9, "1,3"), (24, "2")] {
        fake.put(
            &format!("proc/irq/{irq}/smp_affinity_list"),
            &format!("{cpus}\n"),
        );
    }
    // An interrupt whose queues the driver placed.
    fake.refuse("proc/irq/24/smp_affinity_list", libc::EIO);
    fake.put(&format!("{CPU}/smt/control"), "on\n");
    fake.put(&format!("{CPU}/online"), "0-3\n");
    for cpu in 0..4 {
        if cpu > 0 {
            fake.put(&format!("{CPU}/cpu{cpu}/online"), "1\n");
        }
        for (n, name, latency) in [(0, "POLL", "0"), (1, "C1", "2"), (2, "C6", "133")] {
            let state = format!("{CPU}/cpu{cpu}/cpuidle/state{n}");
            fake.put(&format!("{state}/name"), name);
            fake.put(&format!("{state}/latency"), latency);
            // The operator has C6 off on CPU 3.
            let off = if (cpu, n) == (3, 2) { "1\n" } else { "0\n" };
            fake.put(&format!("{state}/disable"), off);
        }
        policy(&fake, driver, cpu);
    }
    fake
}

fn policy(fake: &FakeMachine, driver: Driver, cpu: u32) {
    let (name, governor, governors, epp) = match driver {
        Driver::IntelActive => ("intel_pstate", "powersave", "performance powersave", true),
        Driver::IntelPassive => ("intel_cpufreq", "schedutil", GENERIC, true),
        Driver::AmdActive => ("amd-pstate-epp", "powersave", "performance powersave", true),
        Driver::AmdPassive | Driver::AmdGuided => ("amd-pstate", "schedutil", GENERIC, false),
        Driver::Acpi => ("acpi-cpufreq", "ondemand", GENERIC, false),
        Driver::None => return,
    };
    let put = |file: &str, text: &str| {
        fake.put(
            &format!("{CPU}/cpufreq/policy{cpu}/{file}"),
            &format!("{text}\n"),
        );
    };
    put("scaling_driver", name);
    put("scaling_governor", governor);
    put("scaling_available_governors", governors);
    put("affected_cpus", &cpu.to_string());
    for (file, khz) in [
        ("cpuinfo_min_freq", "800000"),
        ("scaling_min_freq", "800000"),
    ] {
        put(file, khz);
    }
    for (file, khz) in [
        ("cpuinfo_max_freq", "4000000"),
        ("scaling_max_freq", "3800000"),
    ] {
        put(file, khz);
    }
    if epp {
        put("energy_performance_preference", "balance_performance");
        put("energy_performance_available_preferences", EPP_WORDS);
    }
    let machine = |file: &str, text: &str| fake.put(&format!("{CPU}/{file}"), &format!("{text}\n"));
    match driver {
        Driver::IntelActive => machine("intel_pstate/status", "active"),
        Driver::IntelPassive => machine("intel_pstate/status", "passive"),
        Driver::AmdActive => machine("amd_pstate/status", "active"),
        Driver::AmdPassive => machine("amd_pstate/status", "passive"),
        Driver::AmdGuided => machine("amd_pstate/status", "guided"),
        Driver::Acpi | Driver::None => {}
    }
    match driver {
        Driver::IntelActive | Driver::IntelPassive => machine("intel_pstate/no_turbo", "0"),
        Driver::AmdActive => put("boost", "1"),
        Driver::AmdPassive | Driver::AmdGuided | Driver::Acpi => machine("cpufreq/boost", "1"),
        Driver::None => {}
    }
}

impl State {
    pub(super) fn write_cpu(&mut self, path: &str, text: &str) -> Result<(), i32> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name {
            "features" => self.toggle_feature(path, text),
            "enabled" => self.bracket(path, text),
            "scaling_governor" => self.governor(path, text),
            "energy_performance_preference" => self.epp(path, text),
            "scaling_min_freq" | "scaling_max_freq" => self.limit(path, name, text),
            "control" => self.smt(path, text),
            "online" => self.online(path, text),
            _ if path == NO_TURBO || name == "boost" => self.turbo(path, text),
            _ => self.set(path, text),
        }
    }

    fn set(&mut self, path: &str, text: &str) -> Result<(), i32> {
        self.files.insert(path.to_owned(), format!("{text}\n"));
        Ok(())
    }

    fn beside(&self, path: &str, file: &str) -> Option<(String, String)> {
        let path = format!("{}/{file}", path.rsplit_once('/')?.0);
        let text = self.files.get(&path)?.trim().to_owned();
        Some((path, text))
    }

    fn toggle_feature(&mut self, path: &str, token: &str) -> Result<(), i32> {
        let wanted = Feature::from_token(token);
        let mut features = parse_features(&self.files[path]);
        let known = features.iter_mut().find(|f| f.name == wanted.name);
        *known.ok_or(libc::EINVAL)? = wanted;
        let tokens: Vec<String> = features.iter().map(Feature::token).collect();
        self.files
            .insert(path.to_owned(), format!("{} \n", tokens.join(" ")));
        Ok(())
    }

    fn bracket(&mut self, path: &str, word: &str) -> Result<(), i32> {
        let text = self.files[path].replace(['[', ']'], "");
        if !text.split_whitespace().any(|w| w == word) {
            return Err(libc::EINVAL);
        }
        let words = text.split_whitespace();
        let mark = |w: &str| {
            if w == word {
                format!("[{w}]")
            } else {
                w.to_owned()
            }
        };
        let words: Vec<String> = words.map(mark).collect();
        self.set(path, &words.join(" "))
    }

    /// Drivers that run themselves take the preference along with the governor and do not give it back.
    fn governor(&mut self, path: &str, name: &str) -> Result<(), i32> {
        let offered = self.beside(path, "scaling_available_governors");
        if !offered.is_some_and(|(_, list)| list.split_whitespace().any(|w| w == name)) {
            return Err(libc::EINVAL);
        }
        if name == "performance"
            && let Some((epp, _)) = self.beside(path, "energy_performance_preference")
        {
            self.set(&epp, "performance")?;
        }
        self.set(path, name)
    }

    fn epp(&mut self, path: &str, word: &str) -> Result<(), i32> {
        let governor = self.beside(path, "scaling_governor").map(|(_, g)| g);
        if governor.as_deref() == Some("performance") && word != "performance" {
            return Err(libc::EBUSY);
        }
        self.set(path, word)
    }

    fn limit(&mut self, path: &str, name: &str, text: &str) -> Result<(), i32> {
        let number = |(_, text): (String, String)| text.parse::<u64>().ok();
        let get = |file: &str| self.beside(path, file).and_then(number).ok_or(libc::EIO);
        let khz: u64 = text.parse().map_err(|_| libc::EINVAL)?;
        let khz = khz.clamp(get("cpuinfo_min_freq")?, get("cpuinfo_max_freq")?);
        let crosses = match name {
            "scaling_min_freq" => khz > get("scaling_max_freq")?,
            _ => khz < get("scaling_min_freq")?,
        };
        if crosses {
            Err(libc::EINVAL)
        } else {
            self.set(path, &khz.to_string())
        }
    }

    /// Turbo off lowers the upper limits; they do not come back by themselves here.
    fn turbo(&mut self, path: &str, text: &str) -> Result<(), i32> {
        let off = if path == NO_TURBO {
            text == "1"
        } else {
            text == "0"
        };
        let is_max = |p: &&String| p.ends_with("scaling_max_freq");
        let limits: Vec<String> = self.files.keys().filter(is_max).cloned().collect();
        for limit in limits.iter().filter(|_| off) {
            self.set(limit, "2400000")?;
        }
        self.set(path, text)
    }

    fn smt(&mut self, path: &str, text: &str) -> Result<(), i32> {
        let value = if text == "off" { "0" } else { "1" };
        let siblings = if text == "off" {
            vec![1, 3]
        } else {
            vec![1, 2, 3]
        };
        for cpu in siblings {
            self.online(&format!("{CPU}/cpu{cpu}/online"), value)?;
        }
        self.set(path, text)
    }

    /// A CPU that comes back has its idle states as the driver made them; interrupts that could run on
    /// it alone have moved.
    fn online(&mut self, path: &str, text: &str) -> Result<(), i32> {
        let was = self.files.get(path).map(|t| t.trim().to_owned());
        let folder = path.strip_suffix("online").unwrap_or(path).to_owned();
        let states = format!("{folder}cpuidle/");
        if was.as_deref() == Some("0") && text == "1" {
            let fits = |p: &&String| p.starts_with(&states) && p.ends_with("disable");
            let switches: Vec<String> = self.files.keys().filter(fits).cloned().collect();
            for switch in switches {
                self.set(&switch, "0")?;
            }
        }
        if text == "0" && folder.ends_with("cpu1/") {
            self.set("proc/irq/9/smp_affinity_list", "0-3")?;
        }
        self.set(path, text)
    }
}
