internal import EventLog
internal import Events
internal import HTTPTypes
internal import Subledger

/// The frame of the console's pages.
enum ConsolePage {
    /// The only style sheet: that of all our pages, and what the console adds.
    static let style =
        PageStyle.css.text + "\n" + String(decoding: embeddedFile("console.css"), as: UTF8.self)

    /// The only script, without which every page works, too.
    static let script = String(decoding: embeddedFile("console.js"), as: UTF8.self)

    /// A page for a session.
    ///
    /// - Parameters:
    ///   - title: Its title.
    ///   - search: What the form for customers has; nil for a page without it.
    ///   - note: What every page says about this ledger.
    ///   - section: The part of the console that it is in.
    ///   - refreshSeconds: After how long it is loaded again; nil for never.
    ///   - content: Its content.
    /// - Returns: The page.
    static func page(
        _ title: String,
        search: ConsoleAddress?,
        note: String?,
        in section: ConsoleSection = .customers,
        refreshSeconds: Int? = nil,
        _ content: HTML
    ) -> HTML {
        let notes = [note].compactMap(\.self).map { text -> HTML in
            "<aside class=\"note\" aria-label=\"About this ledger\">\(text)</aside>"
        }
        let refresh = refreshSeconds.map { seconds -> [HTML] in
            ["<meta http-equiv=\"refresh\" content=\"\(seconds)\"/>"]
        }
        return frame(
            title,
            (refresh ?? []) + ["<script src=\"\(ConsoleAddress.script)\" defer=\"\"></script>"],
            """
            <a class="skip" href="#main">To the content</a>
            <header>
            <a class="home" href="\(ConsoleAddress.home)">Subledger</a>
            \(navigation(section))
            \(search.map { [form($0)] } ?? [])
            <form class="out" method="post" action="\(ConsoleAddress.signOut)">\
            <button>Sign out</button></form>
            </header>
            \(notes)
            <main id="main">
            \(content)
            </main>
            """
        )
    }

    /// The roles of the session that a page is made for; nil outside of the pages of a session.
    @TaskLocal static var shownTo: Set<TokenRole>?

    // Leads to the parts that the session may see.
    private static func navigation(_ section: ConsoleSection) -> HTML {
        let sections = ConsoleSection.all.filter { other in
            shownTo.map(other.isSeen) ?? true || other.address == section.address
        }
        let links = sections.map { other -> HTML in
            other.address == section.address
                ? "<a href=\"\(other.address)\" aria-current=\"true\">\(other.words)</a>"
                : "<a href=\"\(other.address)\">\(other.words)</a>"
        }
        return "<nav class=\"sections\" aria-label=\"Console\">\(HTML.joined(links))</nav>"
    }

    /// The environments to choose from.
    ///
    /// - Parameters:
    ///   - chosen: The word that is chosen; empty for none.
    ///   - empty: What it means to choose none; nil if one must be chosen.
    /// - Returns: The field.
    static func environments(_ chosen: String, empty: String?) -> HTML {
        let none = empty.map { _ in [""] } ?? []
        let words = none + ["Production", "Sandbox", "Xcode", "LocalTesting"]
        let options = (words.contains(chosen) ? words : words + [chosen]).map { word -> HTML in
            let name = word.isEmpty ? empty ?? "" : word
            return word == chosen
                ? "<option value=\"\(word)\" selected=\"\">\(name)</option>"
                : "<option value=\"\(word)\">\(name)</option>"
        }
        let name = QueryParameter.environment.rawValue
        return "<label>Environment <select name=\"\(name)\">\(options)</select></label>"
    }

    private static func form(_ search: ConsoleAddress) -> HTML {
        """
        <form class="search" method="get" action="\(ConsoleAddress.customer)" role="search">
        <label class="id">Customer, token, transaction or order
        <input name="id" value="\(search.id)" required="" autocomplete="off" \
        spellcheck="false"/></label>
        <label>At <input name="at" value="\(ConsoleAddress.shown(search.at))" placeholder="now" \
        autocomplete="off"/></label>
        <label>Known at <input name="known-at" value="\(ConsoleAddress.shown(search.knownAt))" \
        placeholder="now" autocomplete="off"/></label>
        \(environments(search.environment ?? "", empty: "any"))
        <label>Time zone <input name="tz" value="\(search.tz ?? "")" placeholder="UTC" \
        autocomplete="off"/></label>
        <button class="go">Show</button>
        </form>
        """
    }

    /// The page that signs in, why it is shown instead of another, and the address of that one.
    static func signIn(_ why: String?, wanted: String? = nil) -> HTML {
        let words = [why].compactMap(\.self).map { why -> HTML in "<p role=\"alert\">\(why)</p>" }
        let address = [wanted].compactMap(\.self)
        // The cookie is not sent with a link from another site, such as a ticket.
        let again = address.map { address -> HTML in
            """
            <p>You came by a link from elsewhere? <a href="\(address)">Open the page again</a>: \
            you may be signed in.</p>
            """
        }
        let field = address.map { address -> HTML in
            "<input type=\"hidden\" name=\"to\" value=\"\(address)\"/>"
        }
        return frame(
            "Sign in",
            [],
            """
            <main class="narrow">
            <h1>Sign in to Subledger</h1>
            \(words)
            \(again)
            <p>Open the link that <code>subledger up</code> printed at its start: it signs in \
            once, and the next start prints a new one. Or enter an access token, which \
            <code>subledger tokens create NAME --role ROLE</code> prints. Its role decides what \
            you see: \(ConsoleSection.rolesInWords).</p>
            <form method="post" action="\(ConsoleAddress.signIn)">\(field)
            <label>Access token <input type="password" name="token" required="" \
            autocomplete="off"/></label>
            <button class="go">Sign in</button>
            </form>
            </main>
            """
        )
    }

    /// The page after signing in, which leads to the one that was wanted, or else to the first one
    /// that the token's role may see.
    static func begun(_ address: String) -> HTML {
        frame(
            "Signed in",
            ["<meta http-equiv=\"refresh\" content=\"0; url=\(address)\"/>"],
            """
            <main class="narrow"><h1>You are signed in</h1>
            <p><a href="\(address)">Continue</a></p></main>
            """
        )
    }

    /// The page of a question that was not answered, with what was typed.
    static func refusal(
        _ problem: Problem,
        _ typed: ConsoleAddress,
        note: String?,
        in section: ConsoleSection
    ) -> HTML {
        let title =
            switch problem.status {
            case .badRequest: "Not understood"
            case .notFound: "Nothing found"
            default: problem.status.reasonPhrase
            }
        let links = (problem.subscriptions ?? []).map { id -> HTML in
            "<li><a href=\"\(ConsoleAddress(id: id).text)\">\(id)</a></li>"
        }
        return page(
            title,
            search: section.address == ConsoleAddress.home ? typed : nil,
            note: note,
            in: section,
            """
            <h1>\(title)</h1>
            <p role="alert">\(problem.detail)</p>
            <ul>\(links)</ul>
            """
        )
    }

    private static func frame(_ title: String, _ head: [HTML], _ body: HTML) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        \(head)
        <title>\(title) · Subledger</title>
        <link rel="stylesheet" href="\(ConsoleAddress.style)"/>
        <link rel="icon" href="data:,"/>
        </head>
        <body>
        \(PageStyle.patterns)
        \(body)
        </body>
        </html>

        """
    }
}
