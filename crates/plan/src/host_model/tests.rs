//! Tests of the shipped hosts.

use super::*;

#[test]
fn every_value_of_a_real_host_has_evidence_that_fits_it() {
    for preset in PRESETS.iter().filter(|preset| preset.name != "infinite") {
        let file: HostFile = toml::from_str(preset.text).unwrap();
        let values = grounded::values(&toml::from_str(preset.text).unwrap());
        let with_evidence: Vec<&String> = file.evidence.keys().collect();
        assert_eq!(with_evidence, values.keys().collect::<Vec<_>>(), "{}", preset.name);
        for (key, value) in &values {
            let fault = file.evidence[key].get_ref().fault(key, value);
            assert_eq!(fault, None, "{}", preset.name);
        }
    }
}

#[test]
fn costs_are_told_to_the_kernel_in_its_units_and_order() {
    let text = "description = \"x\"\nns_per_block = 0.75\nns_per_call = 2\nmemory = \"1 GiB\"\n\
                [ns_per_kib]\ncopy = 3\ncrc32 = 4\nxxhash = 5\nsha256 = 6\nblake2 = 7\naes = 8\n";
    let host = HostModel::parse("tried", text).unwrap();
    assert_eq!(host.costs.to_string(), "750,2,3,4,5,6,7,8");
    assert_eq!(host.memory_bytes, 1 << 30);
}

#[test]
fn an_infinite_host_takes_no_time() {
    assert_eq!(find("infinite").unwrap().costs.to_string(), "0,0,0,0,0,0,0,0");
    assert!(find("abacus").is_none());
}

#[test]
fn a_drawn_host_has_every_uncertain_cost_within_its_range_and_the_same_memory() {
    for host in HOSTS.iter() {
        let (drawn, values) = host.drawn(1, 3).unwrap();
        assert_eq!(host.drawn(1, 3), Ok((drawn.clone(), values.clone())));
        assert_eq!(drawn.memory_bytes, host.memory_bytes);
        assert_eq!(drawn.costs == host.costs, values.is_empty(), "{}", host.name);
    }
    let file: HostFile = toml::from_str(PRESETS[1].text).unwrap();
    let (_, values) = find("modern-2020s").unwrap().drawn(1, 3).unwrap();
    for (key, evidence) in file.evidence.iter().filter(|(key, _)| *key != "memory") {
        let range = evidence.get_ref().range.clone().unwrap().map(|end| end.number().unwrap());
        let drawn = values[&format!("host.{key}")].number().unwrap();
        assert!(range[0] <= drawn && drawn <= range[1], "{key} = {drawn}");
        // A key that belongs to no cost would be drawn and change nothing.
        let mut costs = Costs {
            block_ps: 0,
            call_ns: 0,
            copy_ns: 0,
            crc32_ns: 0,
            xxhash_ns: 0,
            sha256_ns: 0,
            blake2_ns: 0,
            aes_ns: 0,
        };
        let before = costs;
        costs.set(key, 7.0);
        assert_ne!(costs, before, "{key}");
    }
}

#[test]
fn values_of_a_host_are_shown_with_their_evidence() {
    let values = grounded_host(shipped_host("phenom-ii-x4-965").unwrap()).unwrap();
    let copy = values.iter().find(|value| value.key == "ns_per_kib.copy").unwrap();
    assert_eq!(copy.value, "960");
    assert!(copy.evidence.is_some());
    assert_eq!(values.len(), 9);
}

#[test]
fn a_host_file_is_refused_at_the_value_that_makes_no_computer() {
    let shipped = shipped_host("modern-2020s").unwrap();
    let bare = shipped.split("[evidence").next().unwrap();
    let fitted = shipped_host("phenom-ii-x4-965").unwrap();
    for (text, from, to, at, says) in [
        (bare, "ns_per_block = 1.55", "ns_per_block = -1", "-1", "out of range"),
        (bare, "ns_per_block = 1.55", "ns_per_block = nan", "nan", "out of range"),
        (bare, "ns_per_block = 1.55", "ns_per_block = 1001", "1001", "out of range"),
        (bare, "ns_per_call = 1300", "ns_per_call = 2000000", "2000000", "out of range"),
        (bare, "memory = \"4 GiB\"", "memory = \"1 MiB\"", "\"1 MiB\"", "this much memory"),
        (bare, "copy = 100", "copied = 100", "copied", "unknown field"),
        (
            shipped,
            "range = [700, 1800]",
            "range = [1400, 1800]",
            "",
            "is not an interval around its value",
        ),
        (shipped, "range = [700, 1800]", "range = [-100, 1800]", "", "out of range"),
        (shipped, "range = [700, 1800]", "range = [700, 4_000_000]", "", "out of range"),
        (shipped, "[evidence.memory]", "[evidence.disk]", "", "does not set"),
        (fitted, "within = 0.2", "within = 1.2", "", "no host can give"),
        (fitted, "source = \"deleting", "source = \"\" #", "", "has no source"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let fault = HostModel::parse("tried", &changed).unwrap_err();
        assert!(fault.message.contains(says), "{to}: {}", fault.message);
        let place = fault.at.unwrap();
        assert!(changed[place.clone()].contains(at), "{to}: {}", &changed[place]);
        assert!(fault.help.is_some());
    }
}

/// The time that a host's costs make of a figure, relative to it.
fn ratio(host: &HostModel, figure: &str) -> f64 {
    let figure = &host.figures[figure];
    figure.time_ns(&host.costs) / figure.value_ns()
}

#[test]
fn drawn_hosts_give_the_figures_that_their_costs_were_fitted_to() {
    let host = find("phenom-ii-x4-965").unwrap();
    let figures = ["delete", "unpack"];
    assert!(host.figures.keys().eq(&figures));
    let free = HostModel { figures: BTreeMap::new(), ..host.clone() };
    let mut farthest = 0.0_f64;
    let mut costs = Vec::new();
    for draw in 0..60 {
        let (drawn, values) = host.drawn(1, draw).unwrap();
        for figure in figures {
            assert!((ratio(&drawn, figure) - 1.0).abs() <= 0.2, "draw {draw}: {figure}");
        }
        costs.push(values["host.ns_per_block"].number().unwrap());
        // The same without being held to figures.
        let loose = free.drawn(1, draw).unwrap().0;
        let loose = HostModel { figures: host.figures.clone(), ..loose };
        let off = figures.iter().map(|figure| (ratio(&loose, figure) - 1.0).abs());
        farthest = off.fold(farthest, f64::max);
    }
    assert!(farthest > 0.2, "its ranges alone keep it within {farthest}");
    costs.sort_by(f64::total_cmp);
    assert!(costs[59] > 1.2 * costs[0], "{costs:?}");
}

#[test]
fn a_figure_that_no_host_gives_is_told() {
    let shipped = shipped_host("phenom-ii-x4-965").unwrap();
    let text = shipped.replacen("value = \"470 ms\"", "value = \"470 s\"", 1);
    assert_ne!(text, shipped);
    let error = HostModel::parse("slow", &text).unwrap().drawn(1, 0).unwrap_err();
    assert!(error.contains("slow") && error.contains("delete"), "{error}");
}
