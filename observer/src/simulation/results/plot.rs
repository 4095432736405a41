//! The comparison as a picture: latency against load, and over time.

use plotters::{
    backend::SVGBackend,
    chart::ChartBuilder,
    coord::Shift,
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea},
    element::{PathElement, Text},
    prelude::IntoLogRange,
    series::LineSeries,
    style::{Color, RGBColor, ShapeStyle, WHITE},
};

use super::model::Comparison;
use crate::{report::words::units, simulation::Estimate};

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlotError {
    /// There is not one latency to show.
    #[error("there is nothing to plot: no request was answered; raise --requests or --duration")]
    Empty,
    /// The drawing library refused.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
}

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for PlotError {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self::Drawing(error.to_string())
    }
}

/// Told apart by people who do not see all colours, too.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

const WIDTH: u32 = 960;
const HEIGHT: u32 = 420;
const LEGEND_LINE: u32 = 22;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line: its colour, whether it is of a tail, and its points.
struct Line {
    color: RGBColor,
    is_tail: bool,
    points: Vec<(f64, f64)>,
}

/// Draws the comparison as SVG: thin lines for medians, thick ones for p99, over a logarithmic axis of latency.
pub fn plot(comparison: &Comparison) -> Result<String, PlotError> {
    let charts = charts(comparison);
    if charts.iter().all(|chart| chart.lines.iter().all(|line| line.points.is_empty())) {
        return Err(PlotError::Empty);
    }
    let mut picture = String::new();
    {
        #[expect(clippy::cast_possible_truncation, reason = "there are at most two charts")]
        let height = HEIGHT * charts.len() as u32;
        #[expect(clippy::cast_possible_truncation, reason = "nobody compares a thousand policies")]
        let legend_height = LEGEND_LINE * (comparison.policies.len() as u32 + 1);
        let area = SVGBackend::with_string(&mut picture, (WIDTH, legend_height + height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (above, below) = area.split_vertically(legend_height);
        legend(&above, comparison)?;
        for (chart, part) in charts.iter().zip(below.split_evenly((charts.len(), 1))) {
            chart.draw(&part)?;
        }
        area.present()?;
    }
    Ok(picture)
}

/// Which colour is which policy.
fn legend(area: &Area<'_>, comparison: &Comparison) -> Result<(), PlotError> {
    let (left, sample, line) = (20, 40, LEGEND_LINE.cast_signed());
    let font = ("sans-serif", 15);
    area.draw(&Text::new("thin: median, thick: p99", (left, line / 2), font))?;
    for ((policy, color), place) in comparison.policies.iter().zip(COLORS.iter().cycle()).zip(1..) {
        let top = line * place + line / 2;
        let middle = top + 6;
        area.draw(&PathElement::new([(left, middle), (left + sample, middle)], color.stroke_width(3)))?;
        area.draw(&Text::new(policy.policy.as_str(), (left + sample + 10, top), font))?;
    }
    Ok(())
}

/// One of the charts.
struct Plan {
    title: String,
    axis: &'static str,
    written: fn(f64) -> String,
    lines: Vec<Line>,
}

fn charts(comparison: &Comparison) -> Vec<Plan> {
    let mut charts = Vec::new();
    if !comparison.against_load.is_empty() {
        charts.push(Plan {
            title: "latency against load".into(),
            axis: "offered load ÷ capacity, one copy of every call",
            written: |share| format!("{:.0} %", share * 100.0),
            lines: lines(comparison, |policy, is_tail| {
                let at = comparison.against_load.iter().filter_map(|load| {
                    let latency = load.latency_s.get(policy)?;
                    let quantile: Estimate = if is_tail { latency.p99 } else { latency.p50 }?;
                    Some((load.utilization, quantile.median))
                });
                at.collect()
            }),
        });
    }
    let load =
        comparison.system.utilization.map(|share| format!(" at {} of the capacity", units::percent(share)));
    charts.push(Plan {
        title: format!("latency over time{}", load.unwrap_or_default()),
        axis: "when requests arrived, in simulated time",
        written: units::duration,
        lines: lines(comparison, |policy, is_tail| {
            let slices = comparison.policies[policy].over_time.iter();
            slices
                .filter_map(|slice| Some((slice.start_s, if is_tail { slice.p99_s } else { slice.p50_s }?)))
                .collect()
        }),
    });
    charts
}

/// Two lines for each policy.
fn lines(comparison: &Comparison, points: impl Fn(usize, bool) -> Vec<(f64, f64)>) -> Vec<Line> {
    let colors = COLORS.into_iter().cycle().take(comparison.policies.len()).enumerate();
    colors
        .flat_map(|(place, color)| {
            [false, true].map(|is_tail| Line { color, is_tail, points: points(place, is_tail) })
        })
        .collect()
}

impl Line {
    fn style(&self) -> ShapeStyle {
        self.color.stroke_width(if self.is_tail { 3 } else { 1 })
    }
}

impl Plan {
    fn draw(&self, area: &Area<'_>) -> Result<(), PlotError> {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        let (x, y) = (ends(points().map(|(x, _)| x)), ends(points().map(|(_, y)| y)));
        // Room above and below, in even parts of a logarithmic axis.
        let latency = (y.0 / 1.5..y.1 * 1.5).log_scale();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(x.0..x.1, latency)?;
        chart
            .configure_mesh()
            .x_desc(self.axis)
            .y_desc("latency")
            .x_label_formatter(&|value| (self.written)(*value))
            .y_label_formatter(&|seconds| units::duration(*seconds))
            .max_light_lines(0)
            .draw()?;
        for line in self.lines.iter().filter(|line| !line.points.is_empty()) {
            chart.draw_series(LineSeries::new(line.points.iter().copied(), line.style()))?;
        }
        Ok(())
    }
}

/// The least and the most of some values, a little apart where they are the same.
fn ends(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    if least < most { (least, most) } else { (least, least + 1.0) }
}
