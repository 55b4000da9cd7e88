#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| schedrig_fuzz::sim::machine(data));
