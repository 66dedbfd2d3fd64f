internal import Events

/// The difference between two builds of some projections: counted by kind, with its effect on
/// access and money, and the customers most affected.
///
/// A value to which subscriptions are added, each once. Neither the order of adding matters, nor
/// how they are divided among several values that are added up in the end. Its size is bounded by
/// the samples, however much differs.
package struct ProjectionDifference: Sendable {
    /// What is compared.
    package let tables: [ComparedTable]
    /// The most samples that are kept.
    package let samplesMax: Int
    /// The number of subscriptions with rows on either side; 0 until it is set.
    package var streamsCompared = 0
    /// The number of these that differ.
    package private(set) var streamsChanged = 0
    /// What changed in each table, in the order of `tables`.
    package private(set) var totals: [TableTotals]
    /// The effect on access and money, by environment: Production first, the others by name;
    /// environments without a difference are left out.
    package private(set) var effects: [EnvironmentEffect] = []
    /// The subscriptions that differ most: by length of access, then money, then rows, then id.
    package private(set) var samples: [StreamDifference] = []

    private let moneyTables: [Int]

    /// The default number of samples: a page that can be read to its end.
    package static let samplesDefault = 10

    /// The largest number of samples: each costs several folds, and up to a megabyte.
    package static let samplesLimit = 1000

    /// Creates an empty difference.
    ///
    /// - Parameters:
    ///   - tables: What is compared; rows name them by index.
    ///   - samplesMax: The most samples to keep, from 0 to `samplesLimit`.
    package init(_ tables: [ComparedTable], samplesMax: Int = ProjectionDifference.samplesDefault) {
        self.tables = tables
        self.samplesMax = min(max(0, samplesMax), ProjectionDifference.samplesLimit)
        totals = tables.map(TableTotals.init)
        moneyTables = tables.moneyTables
    }

    /// Whether both sides have the same columns and rows.
    package var isEqual: Bool {
        streamsChanged == 0 && tables.allSatisfy(\.hasSameColumns)
    }

    /// The effect in production: access that customers have and money that they paid.
    ///
    /// No other environment is ever added to it.
    package var production: EnvironmentEffect {
        effects.first { $0.environment == .production } ?? EnvironmentEffect(.production)
    }

    /// Whether any table contains access.
    package var comparesAccess: Bool { tables.contains(where: \.hasAccess) }

    /// Adds the rows of one subscription, which was not added before.
    package mutating func add(_ rows: StreamRows) {
        let comparison = StreamComparison(rows, in: tables, moneyTables: moneyTables)
        guard !comparison.isEmpty else { return }
        streamsChanged += 1
        for changed in comparison.tables { totals[changed.sides.table].add(changed) }
        var effect = EnvironmentEffect(rows.stream.environment)
        effect.add(comparison)
        add(effect)
        let rank = SampleRank(
            rows.stream,
            access: comparison.access.gained.length.addingUpToMax(comparison.access.lost.length),
            money: comparison.money,
            rows: comparison.rowsChanged
        )
        keep(rank) { StreamDifference(comparison) }
    }

    /// Adds the content of another difference of the same tables.
    package mutating func add(_ other: ProjectionDifference) {
        streamsCompared += other.streamsCompared
        streamsChanged += other.streamsChanged
        for index in totals.indices { totals[index].add(other.totals[index]) }
        for effect in other.effects { add(effect) }
        for sample in other.samples { keep(SampleRank(sample)) { sample } }
    }

    // Most subscriptions are not samples, so samples are created only on demand.
    private mutating func keep(_ rank: SampleRank, _ sample: () -> StreamDifference) {
        let index = samples.firstIndex { rank.isBefore(SampleRank($0)) } ?? samples.endIndex
        guard index < samplesMax else { return }
        samples.insert(sample(), at: index)
        if samples.count > samplesMax { samples.removeLast() }
    }

    private mutating func add(_ effect: EnvironmentEffect) {
        let index = effects.firstIndex { !$0.isBefore(effect) } ?? effects.endIndex
        if index == effects.endIndex || effect.isBefore(effects[index]) {
            effects.insert(effect, at: index)
        } else {
            effects[index].add(effect)
        }
    }
}

/// Ranks subscriptions as samples.
private struct SampleRank {
    let access: Int64
    let money: Int64
    let rows: Int
    let stream: StreamID

    init(_ stream: StreamID, access: Int64, money: [StreamDifference.Money], rows: Int) {
        self.access = access
        // With several currencies: a sum of different currencies is meaningless as an amount, but
        // gives an order.
        self.money = money.reduce(0) {
            $0.addingUpToMax(Int64(clamping: $1.milliunits.magnitude))
        }
        self.rows = rows
        self.stream = stream
    }

    init(_ sample: StreamDifference) {
        self.init(
            sample.stream,
            access: sample.accessMilliseconds,
            money: sample.money,
            rows: sample.rowsChanged
        )
    }

    func isBefore(_ other: SampleRank) -> Bool {
        if access != other.access { return access > other.access }
        if money != other.money { return money > other.money }
        if rows != other.rows { return rows > other.rows }
        if let isFirst = byBytes(stream.environment.word, other.stream.environment.word) {
            return isFirst
        }
        return byBytes(stream.originalTransactionId, other.stream.originalTransactionId) ?? false
    }
}
