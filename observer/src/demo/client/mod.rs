//! The client of the lab: asks by a fixed schedule, and hedges if it is told to.
//!
//! It is open-loop: a slow answer never delays the requests after it, as it would if each waited for the one before
//! (coordinated omission).

mod copy;
mod gate;
mod grpc;
mod http1;
mod instances;
mod schedule;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use copy::CopyInFlight;
use gate::Gate;
use instances::{Instance, Instances};
use observer_common::Timestamp;
pub(super) use schedule::ScheduleOptions;
use serde::{Deserialize, Serialize};
use tokio::{
    task::JoinSet,
    time::{sleep_until, timeout},
};

use super::{
    hedging::{Attempt, CallError, Finished, Hedger, Idempotent, Policy, Pool, Second},
    lifeline::Lifeline,
    message::{Teller, Told},
    number::TimestampNumber,
    part::Stage,
    records::{Fault, RequestRecord},
    system::{Balancing, Wire},
    timetable::{Ongoing, Timetable, instant},
    wire::{Class, Ticket},
};
use crate::clock::monotonic;

/// How long the client waits for an answer where its policy sets no deadline: many times the longest fault.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What the client is told by the process that starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ClientOptions {
    /// Whom it asks.
    pub(super) instances: Vec<SocketAddr>,
    /// What they speak.
    pub(super) wire: Wire,
    /// Which of them it asks.
    pub(super) balancing: Balancing,
    /// Decides that, where it is by chance.
    pub(super) balancing_seed: u64,
    /// When the run begins.
    #[serde(rename = "start_ns", with = "TimestampNumber")]
    pub(super) start: Timestamp,
    /// What it asks, and when.
    pub(super) schedule: ScheduleOptions,
    /// When it does not read.
    pub(super) not_reading: Timetable,
    /// What it does about slow requests.
    pub(super) hedging: Option<Policy>,
    /// Decides the policy's chances.
    pub(super) chance_seed: u64,
}

/// Everything that a request needs.
#[derive(Debug)]
struct Client {
    instances: Instances,
    hedger: Option<Hedger>,
    teller: Teller,
}

/// Sends requests until the schedule ends, or until it shall finish, and waits for the last answers.
pub(super) async fn run(options: &ClientOptions, mut stage: Stage) -> io::Result<()> {
    let gate = Arc::new(Gate::default());
    let client = Arc::new(Client::new(options, &gate, &stage.teller)?);
    client.instances.connect().await?;
    let teller = stage.teller.clone();
    let not_reading = options.not_reading.each(async |until| {
        let _on = Ongoing::begin(&teller, Fault::NotReading);
        let _shut = gate.shut();
        sleep_until(until).await;
        Ok(())
    });
    let over = instant(options.start, options.schedule.duration);
    let bursts = Timetable { start: options.start, episodes: options.schedule.bursts };
    let bursting = bursts.each(async |until| {
        // Behind the last request nothing arrives faster.
        if until <= over {
            let _on = Ongoing::begin(&teller, Fault::Burst);
            sleep_until(until).await;
        }
        Ok(())
    });
    tokio::select! {
        asked = ask_all(&client, options, &mut stage.lifeline) => asked?,
        failed = not_reading => drop(failed?),
        failed = bursting => drop(failed?),
    }
    if let Some(hedger) = &client.hedger {
        stage.teller.tell(Told::Counts(hedger.counts()));
    }
    Ok(())
}

async fn ask_all(client: &Arc<Client>, options: &ClientOptions, lifeline: &mut Lifeline) -> io::Result<()> {
    let mut under_way = JoinSet::new();
    for (request, planned) in (0..).zip(options.schedule.requests()) {
        let due = Timestamp(options.start.0 + u64::try_from(planned.due.as_nanos()).unwrap_or(u64::MAX));
        tokio::select! {
            () = sleep_until(instant(options.start, planned.due)) => {}
            () = lifeline.finish() => break,
        }
        under_way.spawn(Arc::clone(client).request(request, planned.class, due));
    }
    while let Some(ended) = under_way.join_next().await {
        ended.map_err(io::Error::other)?;
    }
    Ok(())
}

impl Client {
    fn new(options: &ClientOptions, gate: &Arc<Gate>, teller: &Teller) -> io::Result<Self> {
        let hedger = options.hedging.map(|policy| Hedger::new(policy, options.chance_seed));
        let hedger = hedger.transpose().map_err(io::Error::other)?;
        Ok(Self { instances: Instances::new(options, gate), hedger, teller: teller.clone() })
    }

    /// Makes one request of the schedule, and tells of it.
    async fn request(self: Arc<Self>, request: u64, class: Class, due: Timestamp) {
        let sent = monotonic();
        let call = |instance: Arc<Instance>, attempt| {
            let copy = CopyInFlight::new(&self.teller, Ticket { request, attempt, class });
            async move { instance.ask(copy).await }
        };
        let finished = match &self.hedger {
            // Every request of the lab only reads.
            Some(hedger) => hedger.call(&self.instances, Idempotent::vouch(call)).await,
            None => self.once(call).await,
        };
        self.teller.tell(Told::Request(RequestRecord {
            request,
            class,
            due,
            sent,
            ended: monotonic(),
            second: finished.second,
            winner: finished.result.ok().map(|((), attempt)| attempt),
        }));
    }

    /// Makes a request without a second copy.
    async fn once<C, E>(&self, call: impl Fn(Arc<Instance>, Attempt) -> C) -> Finished<(), E>
    where
        C: Future<Output = Result<(), E>>,
    {
        let result = match self.instances.pick() {
            Some(instance) => match timeout(PATIENCE, call(instance, Attempt::Primary)).await {
                Ok(answer) => answer.map(|()| ((), Attempt::Primary)).map_err(CallError::Failed),
                Err(_) => Err(CallError::Expired),
            },
            None => Err(CallError::NoInstance),
        };
        Finished { result, second: Second::NotNeeded }
    }
}
