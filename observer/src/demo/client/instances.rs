//! The replicas that the client may ask, and which one it asks next.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rand::{SeedableRng, rngs::SmallRng, seq::IndexedRandom};

use super::{
    ClientOptions, CopyInFlight, Gate, Pool, Wire, copy::Failure, grpc::GrpcConnection,
    http1::Http1Connections,
};
use crate::demo::system::Balancing;

/// All replicas.
#[derive(Debug)]
pub(super) struct Instances {
    all: Vec<Arc<Instance>>,
    balancing: Balancing,
    turn: AtomicUsize,
    random: Mutex<SmallRng>,
}

impl Instances {
    pub(super) fn new(options: &ClientOptions, gate: &Arc<Gate>) -> Self {
        let instance = |&address| Arc::new(Instance::new(address, options.wire, gate));
        Self {
            all: options.instances.iter().map(instance).collect(),
            balancing: options.balancing,
            turn: AtomicUsize::new(0),
            random: Mutex::new(SmallRng::seed_from_u64(options.balancing_seed)),
        }
    }

    /// Opens the connections without which nothing can be asked.
    pub(super) async fn connect(&self) -> io::Result<()> {
        for instance in &self.all {
            if let Connections::Grpc(connection) = &instance.connections {
                connection.open().await?;
            }
        }
        Ok(())
    }

    fn choose(&self, except: Option<&Arc<Instance>>) -> Option<Arc<Instance>> {
        let candidates: Vec<_> = self.all.iter().filter(|instance| Some(*instance) != except).collect();
        let chosen = match self.balancing {
            Balancing::Turns => {
                let turn = self.turn.fetch_add(1, Ordering::Relaxed);
                candidates.get(turn.checked_rem(candidates.len())?).copied()
            }
            Balancing::TwoChoices => {
                let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
                candidates.sample(&mut *random, 2).copied().min_by_key(|instance| instance.in_flight())
            }
        };
        chosen.cloned()
    }
}

impl Pool for Instances {
    type Instance = Arc<Instance>;

    fn pick(&self) -> Option<Arc<Instance>> {
        self.choose(None)
    }

    fn pick_other(&self, taken: &Arc<Instance>) -> Option<Arc<Instance>> {
        self.choose(Some(taken))
    }
}

/// One replica, and the connections to it.
#[derive(Debug)]
pub(super) struct Instance {
    address: SocketAddr,
    in_flight: AtomicUsize,
    connections: Connections,
}

#[derive(Debug)]
enum Connections {
    Http1(Http1Connections),
    Grpc(GrpcConnection),
}

impl Instance {
    fn new(address: SocketAddr, wire: Wire, gate: &Arc<Gate>) -> Self {
        let gate = Arc::clone(gate);
        let connections = match wire {
            Wire::Http1 => Connections::Http1(Http1Connections::new(address, gate)),
            Wire::Grpc => Connections::Grpc(GrpcConnection::new(address, gate)),
        };
        Self { address, in_flight: AtomicUsize::new(0), connections }
    }

    fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Asks, and waits for the answer. Dropped before, it cancels the request.
    pub(super) async fn ask(&self, copy: CopyInFlight<'_>) -> Result<(), Failure> {
        let _under_way = UnderWay::begin(&self.in_flight);
        match &self.connections {
            Connections::Http1(connections) => connections.ask(copy).await,
            Connections::Grpc(connection) => connection.ask(copy).await,
        }
    }
}

impl PartialEq for Instance {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instances(count: usize, balancing: Balancing) -> Instances {
        let address = |number| SocketAddr::from(([127, 0, 0, number], 80));
        let gate = Arc::default();
        let instance = |number| Arc::new(Instance::new(address(number), Wire::Http1, &gate));
        Instances {
            all: (1..).take(count).map(instance).collect(),
            balancing,
            turn: AtomicUsize::new(0),
            random: Mutex::new(SmallRng::seed_from_u64(1)),
        }
    }

    #[test]
    fn replicas_take_turns() {
        let instances = instances(3, Balancing::Turns);
        let picked: Vec<_> = (0..6).map(|_| instances.pick().unwrap()).collect();
        assert_eq!(picked[..3], instances.all[..]);
        assert_eq!(picked[3..], instances.all[..]);
    }

    #[test]
    fn of_two_choices_the_less_busy_one_is_taken() {
        let instances = instances(3, Balancing::TwoChoices);
        let _busy = [&instances.all[0], &instances.all[0], &instances.all[1]]
            .map(|instance| UnderWay::begin(&instance.in_flight));
        let mut picked = [0_u32; 3];
        for _ in 0..3_000 {
            let instance = instances.pick().unwrap();
            picked[instances.all.iter().position(|one| *one == instance).unwrap()] += 1;
        }
        // The busiest never wins, the idle one wins both of its pairs.
        assert_eq!(picked[0], 0);
        assert!(picked[1].abs_diff(1_000) < 150, "{picked:?}");
    }

    #[test]
    fn a_copy_goes_elsewhere_or_nowhere() {
        for balancing in [Balancing::Turns, Balancing::TwoChoices] {
            let three = instances(3, balancing);
            for _ in 0..100 {
                assert_ne!(three.pick_other(&three.all[1]).unwrap(), three.all[1]);
            }
            let one = instances(1, balancing);
            assert_eq!(one.pick_other(&one.all[0]), None);
            assert_eq!(instances(0, balancing).pick(), None);
        }
    }
}
