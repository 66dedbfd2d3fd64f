/// Measurements by name, one for each round.
struct Samples<Name: Hashable> {
    /// The names, in the order of their first measurements.
    private(set) var names: [Name] = []
    private var values: [Name: [Double]] = [:]

    mutating func add(_ value: Double, to name: Name) {
        if values[name] == nil { names.append(name) }
        values[name, default: []].append(value)
    }

    /// The measurements of a name, by round; empty if there are none.
    subscript(name: Name) -> [Double] { values[name, default: []] }
}

/// The median of some measurements, the upper one of two; zero for none.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}

/// The value that a share of some measurements does not exceed; zero for none.
func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
}

/// The median of the ratios of the rounds.
func medianRatio(_ ours: [Double], _ theirs: [Double]) -> Double {
    median(zip(ours, theirs).map { $0 / $1 })
}

/// A number as tables show it.
func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

/// Runs a body, and returns how many seconds it took.
func seconds<R>(_ body: () async throws -> R) async rethrows -> (seconds: Double, result: R) {
    let start = ContinuousClock.now
    let result = try await body()
    return ((ContinuousClock.now - start) / .seconds(1), result)
}

/// Runs a body that does this many pieces of work, and returns how many it did in a second.
func rate(of count: Int, _ body: () async throws -> Void) async rethrows -> Double {
    Double(count) / (try await seconds(body).seconds)
}
