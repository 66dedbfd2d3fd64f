package import CoreMetrics
internal import Synchronization

/// Stores counts and measurements, and writes them in Prometheus' format.
///
/// A `MetricsFactory` of swift-metrics: it also receives the measurements of Hummingbird and other
/// libraries if the program installs it with `MetricsSystem.bootstrap`.
package final class PrometheusRegistry: MetricsFactory {
    /// The media type of ``exposition()``.
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The most series that are created, so labels from attackers cannot fill the memory.
    static let seriesMax = 10_000

    private let series = Mutex<[SeriesKey: any Series]>([:])
    private let descriptions: [String: String]

    /// A registry without series.
    ///
    /// - Parameter descriptions: The meaning of the metrics with these names.
    package init(descriptions: [String: String] = [:]) {
        self.descriptions = descriptions
    }

    /// All series, by name and labels.
    package func exposition() -> String {
        let all = series.withLock { $0 }
        var (text, last) = ("", "")
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            if key.name != last {
                last = key.name
                if let description = descriptions[key.name] {
                    text += "# HELP \(key.name) \(description)\n"
                }
                text += "# TYPE \(key.name) \(value.type)\n"
            }
            text += value.lines(key)
        }
        return text
    }

    /// Replaces all gauges of a name: what others measured is gone.
    func replaceGauges(
        _ label: String,
        with values: [(labels: [(String, String)], value: Double)]
    ) {
        let gauges = values.map { labels, value in
            let gauge = GaugeSeries()
            gauge.set(value)
            return (SeriesKey(label, labels), gauge)
        }
        let name = SeriesKey(label, []).name
        series.withLock { series in
            series = series.filter { $0.key.name != name }
            for (key, gauge) in gauges { series[key] = gauge }
        }
    }

    /// The value of a counter or a gauge; nil if there is none.
    func value(_ label: String, _ labels: [(String, String)]) -> Double? {
        let key = SeriesKey(label, labels)
        return series.withLock { $0[key] }?.number
    }

    // A series of another type under the same name is not replaced.
    private func find<Made: Series>(
        _ label: String,
        _ dimensions: [(String, String)],
        _ make: () -> Made
    ) -> Made {
        let key = SeriesKey(label, dimensions)
        return series.withLock { series in
            if let found = series[key] { return found as? Made ?? make() }
            let made = make()
            if series.count < PrometheusRegistry.seriesMax { series[key] = made }
            return made
        }
    }

    /// The counter with that name and those labels.
    package func makeCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any CounterHandler {
        find(label, dimensions) { CounterSeries() }
    }

    /// Sets a counter that is maintained elsewhere.
    func setCounter(_ label: String, to value: Int64, _ labels: [(String, String)] = []) {
        find(label, labels) { CounterSeries() }.set(value)
    }

    /// The gauge with that name and those labels.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, dimensions) { GaugeSeries() }
    }

    /// The histogram with that name and those labels; a gauge unless values are aggregated.
    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate { return find(label, dimensions) { HistogramSeries() } }
        return find(label, dimensions) { GaugeSeries() }
    }

    /// The histogram of seconds with that name and those labels.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, dimensions) { HistogramSeries() }
    }

    // Series are kept: a counter that starts again at zero would look like a restart.
    /// Does nothing.
    package func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing.
    package func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing.
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing.
    package func destroyTimer(_ handler: any TimerHandler) {}
}

/// The name of a series and its labels, spelt as Prometheus requires.
struct SeriesKey: Hashable, Comparable {
    let name: String
    let labels: [String]

    init(_ label: String, _ dimensions: [(String, String)]) {
        name = SeriesKey.identifier(label)
        labels = dimensions.map { SeriesKey.label($0, $1) }.sorted()
    }

    static func < (left: SeriesKey, right: SeriesKey) -> Bool {
        (left.name, left.labels.joined()) < (right.name, right.labels.joined())
    }

    /// The labels in braces; empty if there are none.
    func braced(with more: String...) -> String {
        let all = labels + more
        return all.isEmpty ? "" : "{\(all.joined(separator: ","))}"
    }

    static func label(_ name: String, _ value: String) -> String {
        "\(identifier(name))=\"\(escaped(value))\""
    }

    // A key is made several times per request, and usually only has to be copied.
    private static func escaped(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\n")
        }
        guard !isPlain else { return value }
        return value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\", "\"": text += "\\" + String(scalar)
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func identifier(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard !isPlain else { return name }
        let spelt = name.unicodeScalars.map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                ? Character(scalar) : "_"
        }
        return String(spelt.first?.isNumber == true ? ["_"] + spelt : spelt)
    }
}
