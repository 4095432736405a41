//! Mean waiting times against queueing theory.

use super::*;

const SEEDS: u64 = 12;

/// The mean over seeds of the mean latency, in seconds, and its standard error.
fn mean_latency(system: &System, policy: &Policy, extent: Extent) -> (f64, f64) {
    let means: Vec<_> = (1..=SEEDS)
        .map(|seed| simulate(system, policy, extent, seed).mean_latency_seconds().unwrap())
        .collect();
    let seeds = SEEDS as f64;
    let mean = means.iter().sum::<f64>() / seeds;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (seeds - 1.0);
    (mean, (variance / seeds).sqrt())
}

/// Fails unless the 99 % confidence interval over seeds holds the theory's value, and is narrow.
fn assert_mean_latency(system: &System, expected: f64) {
    let (mean, standard_error) = mean_latency(system, &Policy::NONE, requests(200_000));
    // Student's t with 11 degrees of freedom.
    let half = 3.106 * standard_error;
    assert!((mean - expected).abs() < half, "{mean} ± {half}, not {expected}");
    assert!(half < 0.05 * expected, "{mean} ± {half} tells nothing");
}

/// Erlang's C: the probability of having to wait, with `servers` at `offered` load in their number.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    // Erlang's B by its recursion, from which C follows.
    let blocking = (1..=servers)
        .fold(1.0, |blocking, server| offered * blocking / (f64::from(server) + offered * blocking));
    let utilisation = offered / f64::from(servers);
    blocking / (1.0 - utilisation * (1.0 - blocking))
}

#[test]
fn one_server_waits_as_long_as_the_theory_of_m_m_1_says() {
    for utilisation in [0.3, 0.5, 0.7] {
        // The mean of the whole: service ÷ (1 − ρ).
        assert_mean_latency(&system(1, 1, exponential(ms(10)), utilisation), 0.010 / (1.0 - utilisation));
    }
}

#[test]
fn several_servers_wait_as_long_as_the_theory_of_m_m_k_says() {
    for (servers, utilisation) in [(2, 0.7), (8, 0.8), (20, 0.9)] {
        let offered = f64::from(servers) * utilisation;
        let waiting = erlang_c(servers, offered) * 0.010 / (f64::from(servers) - offered);
        assert_mean_latency(&system(1, servers, exponential(ms(10)), utilisation), 0.010 + waiting);
    }
}

#[test]
fn one_server_waits_as_long_as_pollaczek_and_khinchine_say() {
    let constant = ServiceTime::only(Shape::Constant(ms(10))).unwrap();
    let uniform = ServiceTime::only(Shape::Uniform { from: ms(0), to: ms(20) }).unwrap();
    let log_normal = ServiceTime::only(Shape::LogNormal { median: ms(10), sigma: 0.5 }).unwrap();
    // Each with its second moment, in square seconds.
    let log_normal_square = 0.010_f64.powi(2) * (2.0 * 0.5_f64.powi(2)).exp();
    for (service, square) in [
        (constant, 0.010_f64.powi(2)),
        (uniform, 0.020_f64.powi(2) / 3.0),
        (log_normal, log_normal_square),
        (mostly_fast(), 0.98 * 0.010_f64.powi(2) + 0.02 * 0.300_f64.powi(2)),
    ] {
        let utilisation = 0.5;
        let mean = service.mean_seconds();
        let waiting = utilisation / mean * square / 2.0 / (1.0 - utilisation);
        assert_mean_latency(&system(1, 1, service, utilisation), mean + waiting);
    }
}

#[test]
fn sharing_a_processor_takes_as_long_whatever_the_distribution() {
    // M/G/1 with processor sharing: service ÷ (1 − ρ), by the mean alone.
    for service in [exponential(ms(10)), ServiceTime::only(Shape::Constant(ms(10))).unwrap()] {
        let queueing = system(1, 1, service, 0.6);
        let sharing = System { discipline: Discipline::ProcessorSharing, ..queueing };
        assert_mean_latency(&sharing, 0.010 / 0.4);
    }
}

#[test]
fn several_shared_processors_are_as_fast_as_a_queue_before_them_with_exponential_service() {
    let (servers, utilisation) = (4, 0.8);
    let offered = f64::from(servers) * utilisation;
    let waiting = erlang_c(servers, offered) * 0.010 / (f64::from(servers) - offered);
    let queueing = system(1, servers, exponential(ms(10)), utilisation);
    let sharing = System { discipline: Discipline::ProcessorSharing, ..queueing };
    assert_mean_latency(&sharing, 0.010 + waiting);
}

#[test]
fn instances_chosen_at_random_are_queues_of_their_own() {
    assert_mean_latency(&system(5, 1, exponential(ms(10)), 0.7), 0.010 / 0.3);
}

#[test]
fn a_closed_loop_obeys_the_machine_repairman() {
    // Clients that think and one server: M/M/1 with a finite population.
    let (clients, think) = (10_u32, 0.090);
    let states: Vec<f64> = (0..=clients)
        .scan(1.0, |weight, busy| {
            let here = *weight;
            *weight *= f64::from(clients - busy) * 0.010 / think;
            Some(here)
        })
        .collect();
    let idle = states[0] / states.iter().sum::<f64>();
    let throughput = (1.0 - idle) / 0.010;
    let latency = f64::from(clients) / throughput - think;
    let open = system(1, 1, exponential(ms(10)), 0.5);
    let arrivals = Arrivals::ClosedLoop { clients: count(clients), think: ms(90) };
    assert_mean_latency(&System { arrivals, ..open }, latency);
}

#[test]
fn two_tied_copies_with_free_messages_wait_as_one_queue_would() {
    // With two instances, whichever is free first begins: the same as one queue before both.
    let offered = 2.0 * 0.7;
    let waiting = erlang_c(2, offered) * 0.010 / (2.0 - offered);
    let tied = Policy::of(Tactic::Tied { message: Nanoseconds(0) });
    let system = system(2, 1, exponential(ms(10)), 0.7);
    let (mean, standard_error) = mean_latency(&system, &tied, requests(200_000));
    let expected = 0.010 + waiting;
    assert!((mean - expected).abs() < 3.106 * standard_error, "{mean} ± {standard_error}, not {expected}");
}

#[test]
fn the_fastest_of_several_copies_is_distributed_as_their_minimum() {
    let service = ServiceTime::only(Shape::LogNormal { median: ms(10), sigma: 1.0 }).unwrap();
    // So many slots that nothing ever waits.
    let system = system(8, 1_000_000, service.clone(), 1e-6);
    for copies in 1..=5 {
        let policy = Policy::of(Tactic::AtOnce { copies: count(copies) });
        let latency = simulate(&system, &policy, requests(100_000), 1).latency();
        for quantile in [0.1, 0.5, 0.9, 0.99] {
            let found = latency.quantile(quantile);
            let expected = 1.0 - service.survival(found).powf(f64::from(copies));
            let standard_error = (quantile * (1.0 - quantile) / 1e5_f64).sqrt();
            // A bucket of the histogram adds a thousandth of what lies around the value.
            let tolerance = 4.0 * standard_error + 0.001;
            assert!((expected - quantile).abs() < tolerance, "{copies}: {expected}, not {quantile}");
        }
    }
}
