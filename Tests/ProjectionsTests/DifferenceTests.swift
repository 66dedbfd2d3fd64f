import Events
import Projections
import Testing

/// The differences found between two builds of a table.
@Suite struct DifferenceTests {
    @Test func `rows that differ only in the positions of their causes are equal`() {
        let rows = [TestRow.period(1, to: 2), TestRow.period(2, to: 3)]
        let difference = TestRow.difference(rows, rows.map { $0.caused(by: 99) })
        #expect(difference.isEqual && difference.streamsChanged == 0)
        #expect(difference.samples.isEmpty && difference.totals[0].changes.isEmpty)
    }

    @Test func `an inserted row moves no other row`() throws {
        let rows = (1...4).map { TestRow.period($0, to: $0 + 1) }
        let difference = TestRow.difference([rows[0], rows[2], rows[3]], rows)
        #expect(difference.totals[0].words == ["period-added 1/1"])
        let change = try #require(difference.samples.first?.changes.first)
        #expect(change.old == nil && change.new?.values == rows[1].values)
        #expect(difference.production.access.gained == 1 && difference.production.access.lost == 0)
    }

    @Test(arguments: [
        (TestRow.period(1, to: 9, expires: 5), ["period-moved 1/1"]),
        (TestRow.period(1, to: 5, reason: "refunded"), ["end-reason-changed 1/1"]),
        (TestRow.period(1, to: 5, product: "b"), ["product-changed 1/1"]),
        (TestRow.period(1, to: 5, kind: "trial"), ["kind-changed 1/1"]),
        (TestRow.period(1, to: 5, expires: 8), ["period-changed 1/1"]),
        (
            TestRow.period(1, to: 3, expires: 5, kind: "trial", reason: "upgraded"),
            ["period-moved 1/1", "end-reason-changed 1/1", "kind-changed 1/1"]
        ),
        (TestRow.period(1, to: 5, kind: "grace"), ["period-added 1/1", "period-removed 1/1"]),
        (TestRow.period(2, to: 5, expires: 5), ["period-moved 1/1", "period-changed 1/1"]),
        (TestRow.period(2, to: 6), ["period-added 1/1", "period-removed 1/1"]),
    ])
    func `each kind of change to a period has its own word`(new: ProjectionRow, words: [String]) {
        let old = TestRow.period(1, to: 5)
        #expect(TestRow.difference([old], [new]).totals[0].words == words)
    }

    @Test func `two purchases in one second keep their partners in any order`() {
        // Apple's data: trap 40
        let old = [TestRow.period(1, to: 5), TestRow.period(1, to: 9)]
        let new = [TestRow.period(1, to: 8, expires: 9), TestRow.period(1, to: 4, expires: 5)]
        for rows in [new, new.reversed()] {
            let difference = TestRow.difference(old, rows)
            #expect(difference.totals[0].words == ["period-moved 2/1"])
            #expect(
                difference.production.access.lost == 1 && difference.production.access.gained == 0
            )
        }
    }

    @Test func `rows in another order are reported as reordered, not as changed`() throws {
        let rows = [TestRow.period(1, to: 2), TestRow.period(2, to: 3)]
        let difference = TestRow.difference(rows, rows.reversed())
        #expect(difference.totals[0].words == ["periods-reordered 2/1"])
        #expect(difference.totals[0].rowsChanged == 0 && difference.streamsChanged == 1)
        #expect(try #require(difference.samples.first).isOnlyReordered)
    }

    @Test func `access is compared as time, not as rows`() {
        // One long period instead of two short ones: three rows changed, but no access.
        let old = [TestRow.period(1, to: 5), TestRow.period(5, to: 9)]
        let difference = TestRow.difference(old, [TestRow.period(1, to: 9)])
        #expect(difference.streamsChanged == 1)
        #expect(difference.production.access.gained == 0 && difference.production.access.lost == 0)
    }

    @Test func `endless access is counted up to Apple's latest representable time`() {
        let endless = TestRow.period(1, to: .max, expires: 5)
        let difference = TestRow.difference([TestRow.period(1, to: 5)], [endless])
        #expect(difference.production.access.gained == AccessSpan.endMax.milliseconds - 5)
        let backwards = TestRow.period(7, to: 3)
        #expect(TestRow.difference([], [backwards]).production.access.gained == 0)
    }

    @Test func `money is summed by subscription and currency, and counted once`() throws {
        let tables = TestRow.tables(["transactions", "movements"])
        var difference = ProjectionDifference(tables)
        // The same charge under another date changes nothing; a refund in another currency does.
        var first = TestRow.stream(
            "1",
            table: 1,
            old: [TestRow.movement(1, 9990, "USD")],
            new: [TestRow.movement(2, 9990, "USD"), TestRow.movement(3, -5000, "EUR")]
        )
        // The same refund, reported again by the purchase.
        first.tables.append(
            .init(
                table: 0,
                old: [TestRow.transaction(1, 9990)],
                new: [TestRow.transaction(1, 4990)]
            )
        )
        difference.add(first)
        difference.add(
            TestRow.stream("2", table: 1, old: [], new: [TestRow.movement(1, 700, nil)])
        )
        difference.add(
            TestRow.stream(
                "3",
                table: 1,
                old: [TestRow.movement(1, 1, "EUR")],
                new: [TestRow.movement(1, .max, "EUR")]
            )
        )
        #expect(
            difference.moneyWords == ["? +700 -0", "EUR +\(Int64.max - 1) -5000"]
        )
        #expect(difference.samples.map(\.stream.originalTransactionId) == ["3", "1", "2"])
    }

    @Test func `sandbox purchases are never added to real ones`() {
        var difference = ProjectionDifference(TestRow.tables(["active_periods", "movements"]))
        for (id, environment) in [("1", "LocalTesting"), ("2", "Production"), ("3", "Sandbox")] {
            difference.add(
                StreamRows(
                    stream: StreamID(
                        environment: StoreEnvironment(environment),
                        originalTransactionId: id
                    ),
                    tables: [
                        .init(table: 0, new: [TestRow.period(1, to: 3)]),
                        .init(table: 1, new: [TestRow.movement(1, 9990, "USD")]),
                    ]
                )
            )
        }
        #expect(
            difference.effects.map(\.environment.word) == ["Production", "LocalTesting", "Sandbox"]
        )
        #expect(difference.effects.map(\.access.gained) == [2, 2, 2])
        #expect(difference.effects.map { $0.money.map(\.gained) } == [[9990], [9990], [9990]])
        #expect(difference.production.streamsChanged == 1 && difference.streamsChanged == 3)
        #expect(difference.moneyWords == ["USD +9990 -0"])
    }

    @Test func `without a journal the prices of purchases count`() {
        var difference = ProjectionDifference(TestRow.tables(["transactions"]))
        difference.add(
            TestRow.stream(
                "1",
                old: [TestRow.transaction(1, 9990)],
                new: [TestRow.transaction(1, 4990)]
            )
        )
        #expect(difference.moneyWords == ["? +0 -5000"])
        #expect(difference.totals[0].words == ["price-changed 1/1"])
    }

    @Test func `if the journal does not differ, the money of another table counts`() throws {
        let tables = TestRow.tables(["transactions", "refunds", "movements"])
        var difference = ProjectionDifference(tables)
        difference.add(
            TestRow.stream(
                "1",
                table: 1,
                old: [TestRow.refund(1, 9990, "USD")],
                new: [TestRow.refund(1, 4990, "USD")]
            )
        )
        // The refund became smaller: there is more money.
        #expect(difference.moneyWords == ["USD +5000 -0"])
        #expect(difference.production.money.map(\.projection) == ["refunds"])
        #expect(difference.production.otherMoney.isEmpty)
        let sample = try #require(difference.samples.first)
        #expect(sample.money.map(\.projection) == ["refunds"])
        #expect(sample.money.map(\.milliunits) == [5000])

        difference.add(
            TestRow.stream("2", table: 2, old: [], new: [TestRow.movement(1, 700, "USD")])
        )
        // Now the journal differs, and no amount is counted twice.
        #expect(difference.moneyWords == ["USD +700 -0"])
        #expect(difference.production.money.map(\.projection) == ["movements"])
        let others = difference.production.otherMoney
        #expect(others.map(\.projection) == ["refunds"] && others.map(\.gained) == [5000])
        #expect(difference.samples.map(\.stream.originalTransactionId) == ["1", "2"])
    }

    @Test func `without differences in access or money most changed rows come first`() {
        var difference = ProjectionDifference(TestRow.tables(["active_periods"]), samplesMax: 2)
        for (id, count) in [("1", 1), ("2", 3), ("3", 2), ("4", 3)] {
            let rows = (1...Int64(count)).map { TestRow.period($0, to: $0 + 1) }
            let changed = (1...Int64(count)).map {
                TestRow.period($0, to: $0 + 1, reason: "refunded")
            }
            difference.add(TestRow.stream(id, old: rows, new: changed))
        }
        #expect(difference.samples.map(\.stream.originalTransactionId) == ["2", "4"])
        #expect(difference.samples.map(\.rowsChanged) == [3, 3])
    }

    @Test func `columns in only one of the tables are reported once and not compared`() throws {
        let columns = TestRow.projection("active_periods").columns
        let table = ComparedTable(
            name: "active_periods",
            oldVersion: 1,
            newVersion: 2,
            oldColumns: columns.filter { $0 != "kind" } + ["was"],
            newColumns: columns + ["is"],
            comparison: TestRow.projection("active_periods").comparison
        )
        #expect(table.columns == columns.filter { $0 != "kind" })
        #expect(table.columnsAdded == ["kind", "is"] && table.columnsRemoved == ["was"])
        var difference = ProjectionDifference([table])
        #expect(!difference.isEqual && difference.streamsChanged == 0)
        // Without `kind` no row is a grace; everything else stays the same.
        let (old, new) = (TestRow.period(1, to: 5), TestRow.period(1, to: 4, expires: 5))
        difference.add(
            TestRow.stream("1", old: [old.without(5)], new: [new.without(5)])
        )
        #expect(difference.totals[0].words == ["period-moved 1/1"])
        #expect(difference.production.access.lost == 1)
    }

    @Test func `without a declaration, rows are only added and removed`() {
        let table = ComparedTable(
            name: "trials",
            oldVersion: nil,
            newVersion: 1,
            oldColumns: ["a", "b"],
            newColumns: ["a", "b"],
            comparison: RowComparison()
        )
        var difference = ProjectionDifference([table])
        difference.add(
            TestRow.stream(
                "1",
                old: [ProjectionRow(.text("x"), .int32(1), causedBy: [])],
                new: [ProjectionRow(.text("x"), .int32(2), causedBy: [])]
            )
        )
        #expect(difference.totals[0].words == ["row-added 1/1", "row-removed 1/1"])
        #expect(difference.samples.first?.firstInstant == nil)
    }

    @Test func `texts are equal only if their bytes are`() {
        let (old, new) = ("\u{e9}", "e\u{301}")
        let difference = TestRow.difference(
            [TestRow.period(1, to: 2, product: old)],
            [TestRow.period(1, to: 2, product: new)]
        )
        #expect(difference.totals[0].words == ["product-changed 1/1"])
    }

    @Test func `every declared column exists, and every kind is declared once`() {
        for projection in allProjections {
            let comparison = projection.comparison
            var named = comparison.aspects.flatMap(\.columns) + [comparison.instant ?? ""]
            for part in comparison.identities.joined() {
                switch part {
                case .column(let name), .holds(let name, _): named.append(name)
                }
            }
            named += [comparison.access?.from, comparison.access?.to].compactMap { $0 }
            named += [comparison.money?.amount, comparison.money?.currency].compactMap { $0 }
            for name in named {
                #expect(projection.columns.contains(name), "\(projection.name): \(name)")
            }
            let kinds = TestRow.tables([projection.name])[0].kinds
            #expect(Set(kinds).count == kinds.count)
        }
    }

    @Test func `a subscription with too many changes shows the first ones and counts the others`()
        throws
    {
        let rows = (1...80).map { TestRow.period($0, to: $0 + 1) }
        let sample = try #require(TestRow.difference([], rows.reversed()).samples.first)
        #expect(sample.changes.count == StreamDifference.changesMax)
        #expect(sample.changesOmitted == 80 - StreamDifference.changesMax)
        #expect(sample.changes.first?.new?.values == rows[0].values)
        #expect(sample.firstInstant == Instant(milliseconds: 1))
    }
}
