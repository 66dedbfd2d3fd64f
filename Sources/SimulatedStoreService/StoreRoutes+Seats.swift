internal import Events
internal import Hummingbird

/// Groups and seats, which Apple offers in the sandbox only.
extension StoreRoutes {
    func addSeats(
        _ store: ServedStore,
        below prefix: String,
        to router: Router<BasicRequestContext>
    ) {
        addGroups(store, below: prefix, to: router)
        let seats = prefix + "/groups/v1/transactions/:id/seats"
        @Sendable func answer(
            _ request: Request,
            _ body: (Instant) throws -> [UInt8]
        ) throws -> Response {
            try answerInSandbox(request, store, body)
        }

        router.get(RouterPath(seats)) { request, context in
            try answer(request) { now in
                try json(store.seatInfo(of: context.parameters.get("id") ?? "", at: now))
            }
        }
        router.post(RouterPath(seats)) { request, context in
            let buffer = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try answer(request) { now in
                let body = try Self.read(SeatClaimBody.self, buffer)
                let id = context.parameters.get("id") ?? ""
                return try json(store.claimSeat(of: id, body, at: now))
            }
        }
        router.delete(RouterPath(seats + "/:claim")) { request, context in
            try answer(request) { now in
                let claim = context.parameters.get("claim") ?? ""
                try store.unclaimSeat(claim, of: context.parameters.get("id") ?? "", at: now)
                return []
            }
        }
        router.post(RouterPath(seats + "/:claim/associate")) { request, context in
            let buffer = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try answer(request) { now in
                let body = try Self.read(SeatAssociationBody.self, buffer)
                let claim = context.parameters.get("claim") ?? ""
                let id = context.parameters.get("id") ?? ""
                try store.associateSeat(claim, of: id, body, at: now)
                return []
            }
        }
    }

    private func addGroups(
        _ store: ServedStore,
        below prefix: String,
        to router: Router<BasicRequestContext>
    ) {
        router.get(RouterPath(prefix + "/groups/v1/currentGroups/:id")) { request, context in
            try answerInSandbox(request, store) { now in
                try json(store.groups(of: context.parameters.get("id") ?? "", at: now))
            }
        }
        router.get(RouterPath(prefix + "/groups/v1/group/:id")) { request, context in
            let query = request.uri.queryParameters
            return try answerInSandbox(request, store) { now in
                try json(
                    store.members(
                        of: context.parameters.get("id") ?? "",
                        limit: query["limit"].map(String.init),
                        page: query["paginationToken"].map(String.init),
                        at: now
                    )
                )
            }
        }
    }

    // Apple offers groups and seats in the sandbox only.
    private func answerInSandbox(
        _ request: Request,
        _ store: ServedStore,
        _ body: (Instant) throws -> [UInt8]
    ) throws -> Response {
        try respond(to: request, .groups, store) { now in
            guard store.environment == .sandbox else { throw StoreError.badRequest }
            return try body(now)
        }
    }
}
