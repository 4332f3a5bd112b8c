//! A run that goes on step by step, so that a page stays responsive.

use crate::problem::Problem;
use crate::request::{Planned, Request};
use crate::results::{with_head, with_report};
use hostnet_commands::{check_series, Status};
use hostnet_config::Plan;
use hostnet_sim::chip::ChipSimulation;
use hostnet_sim::noc::NocSimulation;
use hostnet_sim::{FinishedRun, Options, Preparation, RateTables, Run};
use serde_json::{json, Value};

/// Tables of rates that all runs of the page share.
static TABLES: RateTables = RateTables::new(|| None);

/// A run in progress.
pub(crate) struct Job {
    engine: Engine,
    /// Entries of the results that are known before the run.
    head: Value,
    status: Status,
    complete: bool,
}

enum Engine {
    Hosts(Box<Run>, Box<Plan>),
    Chip(Box<ChipSimulation>),
    Noc(Box<NocSimulation>),
}

impl Job {
    /// Prepares the run of a request. `progress` is called during the preparation, and returns false to stop it.
    ///
    /// # Errors
    /// Returns the first mistake in the request. Returns `None` if the preparation was stopped.
    pub(crate) fn new(request: &Request, mut progress: impl FnMut(Status) -> bool) -> Result<Option<Self>, Problem> {
        let plan = request.resolve()?;
        let series_ps = request.series_ps()?;
        let head = plan.head();
        let engine = match plan {
            Planned::Hosts(plan) => {
                check_series(&plan, series_ps)?;
                let options = Options { series_ps, rate_tables: Some(&TABLES), ..Options::default() };
                let run = Run::prepare(&plan, options, |stage: Preparation| progress(stage.into()));
                let Some(run) = run else { return Ok(None) };
                Engine::Hosts(Box::new(run), plan)
            }
            Planned::Chip(plan) => Engine::Chip(Box::new(ChipSimulation::new(&plan))),
            Planned::Noc(plan) => Engine::Noc(Box::new(NocSimulation::new(&plan, |status| progress(status.into()))?)),
        };
        let status = engine.status();
        Ok(Some(Self { engine, head, status, complete: false }))
    }

    /// Runs until the run is over or `is_time` returns true, which is called after each slice of work. Returns true if
    /// there is more to do.
    ///
    /// # Errors
    /// Returns the reason why the run cannot go on.
    pub(crate) fn step(&mut self, mut is_time: impl FnMut() -> bool) -> Result<bool, Problem> {
        let before = &self.status;
        self.complete = match &mut self.engine {
            // The first call may come before any work.
            Engine::Hosts(run, _) => run.run(|status| Status::from(status) == *before || !is_time())?,
            Engine::Chip(simulation) => {
                while simulation.step()? && !is_time() {}
                simulation.complete()
            }
            Engine::Noc(simulation) => {
                while simulation.step() && !is_time() {}
                simulation.complete()
            }
        };
        self.status = self.engine.status();
        Ok(!self.complete)
    }

    /// Returns the progress.
    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the results so far.
    pub(crate) fn results(&mut self) -> Value {
        let results = match &mut self.engine {
            Engine::Hosts(run, plan) => with_report(plan, &FinishedRun::of(run, self.complete)),
            Engine::Chip(simulation) => of_report(&simulation.report().summary, &simulation.report().result_hash),
            Engine::Noc(simulation) => of_report(&simulation.report().summary, &simulation.report().result_hash),
        };
        with_head(&self.head, self.complete, results)
    }
}

impl Engine {
    fn status(&self) -> Status {
        match self {
            Self::Hosts(run, _) => run.status().into(),
            Self::Chip(simulation) => simulation.status().into(),
            Self::Noc(simulation) => simulation.status().into(),
        }
    }
}

fn of_report(summary: &Value, result_hash: &str) -> Value {
    json!({ "summary": summary, "result_hash": result_hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(request: Value) -> Job {
        crate::examples::mount_files();
        let request = Request::read(&request.to_string()).expect("it is a request");
        Job::new(&request, |_| true).expect("it is valid").expect("nobody stops it")
    }

    fn finish(mut job: Job, slices: usize) -> Value {
        let mut left = slices;
        let mut is_time = || {
            left = left.checked_sub(1).unwrap_or(slices);
            left == 0
        };
        while job.step(&mut is_time).expect("it goes on") {}
        job.results()
    }

    fn short(name: &str, overrides: &[&str]) -> Value {
        let text = crate::examples::text(name).expect("it is an example");
        json!({ "text": text, "overrides": overrides, "noc": name == "noc.toml" })
    }

    #[test]
    fn a_run_that_pauses_has_the_results_of_one_that_does_not() {
        let requests = [
            short("quadrant3.toml", &["run.warmup=20 us", "run.duration=400 us"]),
            short("noc.toml", &[]),
            short("datagrams.toml", &[]),
        ];
        for request in requests {
            let whole = finish(job(request.clone()), usize::MAX);
            assert_eq!(whole["complete"], json!(true));
            assert_eq!(finish(job(request), 1), whole);
        }
    }

    #[test]
    fn a_run_that_is_stopped_has_the_results_so_far() {
        let mut job = job(short("quadrant3.toml", &["run.duration=100 ms"]));
        let more = job.step(|| true).expect("it goes on");
        let results = job.results();
        assert!(more && job.status().simulated_ps > 0);
        assert_eq!((&results["complete"], &results["summary"]["complete"]), (&json!(false), &json!(false)));
    }
}
