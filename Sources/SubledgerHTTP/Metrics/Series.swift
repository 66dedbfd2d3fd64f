internal import CoreMetrics
internal import Synchronization

/// The values of one series.
protocol Series: Sendable {
    /// Prometheus' word for its type.
    var type: String { get }
    /// Its lines, with that name and those labels.
    func lines(_ key: SeriesKey) -> String
    /// Its value; nil for a distribution.
    var number: Double? { get }
}

/// A value that only increases.
final class CounterSeries: Series, CounterHandler {
    let type = "counter"
    private let value = Mutex<Int64>(0)

    func increment(by amount: Int64) {
        value.withLock { $0 = $0.addingReportingOverflow(amount).partialValue }
    }

    func reset() { set(0) }

    func set(_ value: Int64) { self.value.withLock { $0 = value } }

    var number: Double? { Double(value.withLock { $0 }) }

    func lines(_ key: SeriesKey) -> String {
        "\(key.name)\(key.braced()) \(value.withLock { $0 })\n"
    }
}

/// A value that can increase and decrease.
final class GaugeSeries: Series, MeterHandler, RecorderHandler {
    let type = "gauge"
    private let value = Mutex<Double>(0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    var number: Double? { value.withLock { $0 } }

    func lines(_ key: SeriesKey) -> String {
        let value = value.withLock { $0 }
        return "\(key.name)\(key.braced()) \(value.isNaN ? "NaN" : "\(value)")\n"
    }
}

/// A distribution of values, in seconds for times.
final class HistogramSeries: Series, RecorderHandler, TimerHandler {
    let type = "histogram"
    let number: Double? = nil

    /// Upper bounds of the buckets: from a millisecond, the time of an answer, to three days, for
    /// which Apple repeats a notification.
    static let bounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
        3_600, 10_800, 43_200, 86_400, 259_200,
    ]

    private struct Values {
        var counts = [Int64](repeating: 0, count: HistogramSeries.bounds.count)
        var count: Int64 = 0
        var sum = 0.0
    }

    private let values = Mutex(Values())

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        values.withLock { values in
            if let bucket = HistogramSeries.bounds.firstIndex(where: { value <= $0 }) {
                values.counts[bucket] += 1
            }
            values.count += 1
            values.sum += value
        }
    }

    func lines(_ key: SeriesKey) -> String {
        let values = values.withLock { $0 }
        var (text, below) = ("", Int64(0))
        for (bound, count) in zip(HistogramSeries.bounds, values.counts) {
            below += count
            text += "\(key.name)_bucket\(key.braced(with: "le=\"\(bound)\"")) \(below)\n"
        }
        text += "\(key.name)_bucket\(key.braced(with: "le=\"+Inf\"")) \(values.count)\n"
        text += "\(key.name)_sum\(key.braced()) \(values.sum)\n"
        return text + "\(key.name)_count\(key.braced()) \(values.count)\n"
    }
}
