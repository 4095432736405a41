//! The path to one replica, which is sometimes a bad one.
//!
//! A process between client and replica hands on what it reads. While the path is bad, every segment takes longer, and
//! some are lost: such a segment, and all behind it on its connection, waits for as long as TCP would before it sends
//! again.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{sleep, sleep_until},
};

use super::{
    message::Teller,
    part::{Stage, listener},
    records::Fault,
    timetable::{Ongoing, Timetable},
};
use crate::quantity::Share;

/// How much longer a segment takes on a bad path.
const DELAY: Duration = Duration::from_millis(2);
/// When a lost segment is there after all: the shortest time after which Linux sends again.
const SENT_AGAIN: Duration = Duration::from_millis(200);
/// What is read at once counts as a segment.
const SEGMENT: usize = 16 * 1024;

/// What a forwarder is told by the process that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ForwarderOptions {
    /// The address that clients dial.
    pub(super) instance: SocketAddr,
    /// The replica behind it.
    pub(super) replica: SocketAddr,
    /// When the path is bad.
    pub(super) bad: Timetable,
    /// How many segments are lost then.
    pub(super) loss: Share,
    /// Decides which.
    pub(super) seed: u64,
}

#[derive(Debug)]
struct Path {
    options: ForwarderOptions,
    is_bad: AtomicBool,
    chance: Mutex<SmallRng>,
    teller: Teller,
}

/// Hands on what comes on the listening socket that is standard input.
pub(super) async fn run(options: ForwarderOptions, stage: &Stage) -> io::Result<()> {
    let listener = listener()?;
    let path = Arc::new(Path {
        options,
        is_bad: AtomicBool::new(false),
        chance: Mutex::new(SmallRng::seed_from_u64(options.seed)),
        teller: stage.teller.clone(),
    });
    let spoil = options.bad.each(async |until| {
        let _on = Ongoing::begin(&path.teller, Fault::BadPath).at(options.instance);
        path.is_bad.store(true, Ordering::Relaxed);
        sleep_until(until).await;
        path.is_bad.store(false, Ordering::Relaxed);
        Ok(())
    });
    tokio::try_join!(accept(&listener, &path), spoil).map(drop)
}

async fn accept(listener: &TcpListener, path: &Arc<Path>) -> io::Result<Infallible> {
    loop {
        let (near, client) = listener.accept().await?;
        let path = Arc::clone(path);
        // When either side is gone, so is the connection.
        tokio::spawn(async move { path.connect(near, client).await.ok() });
    }
}

impl Path {
    async fn connect(&self, near: TcpStream, client: SocketAddr) -> io::Result<()> {
        let far = TcpStream::connect(self.options.replica).await?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let (from_client, to_client) = near.into_split();
        let (from_replica, to_replica) = far.into_split();
        tokio::try_join!(
            self.hand_on(from_client, to_replica, client),
            self.hand_on(from_replica, to_client, client)
        )?;
        Ok(())
    }

    async fn hand_on(
        &self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        client: SocketAddr,
    ) -> io::Result<()> {
        let mut segment = vec![0; SEGMENT];
        loop {
            let length = from.read(&mut segment).await?;
            if length == 0 {
                return to.shutdown().await;
            }
            self.pass(client).await;
            to.write_all(&segment[..length]).await?;
        }
    }

    /// Waits for as long as a segment is under way.
    async fn pass(&self, client: SocketAddr) {
        if !self.is_bad.load(Ordering::Relaxed) {
            return;
        }
        sleep(DELAY).await;
        if self.loses() {
            let _on = Ongoing::begin(&self.teller, Fault::SegmentLost).at(self.options.instance).of(client);
            sleep(SENT_AGAIN).await;
        }
    }

    fn loses(&self) -> bool {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        chance.random_bool(self.options.loss.as_fraction())
    }
}
