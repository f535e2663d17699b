#include "lsp-server/documents/document_worker.h"

#include "analysis/parse/translation_unit.h"
#include "engine/repair/compile_diagnoser.h"
#include "lsp-server/documents/reading.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <utility>

namespace kernelskill::lsp {

using std::chrono::milliseconds;

namespace {

/// Typing comes in bursts: to wait for a part of a parse's time avoids most useless parses, and
/// costs little when a parse is quick.
constexpr milliseconds maxDebounce{150};
constexpr int debounceDivisor = 4;
/// After the last edit of the source that a document is read through.
constexpr milliseconds includerRest{1000};
/// Fixes are looked for by parsing candidates; not while the user is still typing, unless a request
/// asks.
constexpr milliseconds fixesDelay{120};
/// A parse cannot be interrupted: after this time the document says that it is still going on.
constexpr std::chrono::seconds longParse{5};

analysis::Diagnostic noticeFor(const ParseInput& input, std::string code, std::string message,
                               analysis::Severity severity = analysis::Severity::Warning) {
    analysis::Diagnostic notice;
    notice.file = input.file.string();
    notice.severity = severity;
    notice.origin = analysis::DiagnosticOrigin::Notice;
    notice.code = std::move(code);
    notice.message = std::move(message);
    return notice;
}

std::shared_ptr<analysis::FileModel> emptyModel(const ParseInput& input) {
    auto model = std::make_shared<analysis::FileModel>();
    model->file = input.file.string();
    model->source = input.text;
    return model;
}

} // namespace

struct DocumentWorker::State : std::enable_shared_from_this<State> {
    State(EventLoop& eventLoop, WorkerPool& parserPool, WorkerPool& backgroundPool,
          spdlog::logger& logger, Callbacks handlers)
        : loop(eventLoop), parsers(parserPool), background(backgroundPool), log(logger),
          callbacks(std::move(handlers)) {}

    void schedule();
    void hurry();
    void start();
    void sayStillParsing(const ParseInput& input, std::uint64_t generation);
    void parse(const ParseInput& input, std::uint64_t generation, bool reload);
    void askSkills(const Snapshot& parsed, std::uint64_t generation);
    [[nodiscard]] std::vector<analysis::Diagnostic> parseUnit(const ParseInput& input, bool reload);
    [[nodiscard]] Result<void> parseText(const ParseInput& input);
    [[nodiscard]] bool isOvertaken(std::uint64_t generation) const {
        return generation != latest.load(std::memory_order_relaxed);
    }
    void finish(std::uint64_t generation, std::expected<SnapshotPtr, ResponseError> outcome,
                milliseconds took);
    void publish(SnapshotPtr snapshot);
    void findFixes();
    void deliverFixes(std::uint64_t generation, Fixes found);
    void abandonFixes();
    void close();

    EventLoop& loop;
    WorkerPool& parsers;
    WorkerPool& background;
    spdlog::logger& log;
    Callbacks callbacks;

    // The loop's thread.
    bool isClosed = false;
    bool isParsing = false;
    std::optional<ParseInput> wanted; ///< Not yet begun.
    bool wantsReload = false;
    bool mayWait = false; ///< See Urgency::Waiting.
    Timer debounce;
    Timer longParseTimer;
    milliseconds lastParse{0};
    SnapshotPtr newest;
    std::optional<ResponseError> failure; ///< Why the latest generation could not be parsed.
    std::vector<SnapshotReader> readers;
    Timer fixesTimer;
    bool isFindingFixes = false;
    std::stop_source fixesStop;
    Fixes fixes; ///< Fixes for `newest`.
    std::vector<std::pair<std::uint64_t, FixesReader>> fixesReaders;

    /// Generation of the latest update; read by the parsing thread to give up early.
    std::atomic<std::uint64_t> latest{0};

    // The parsing task, of which there is one at a time.
    std::optional<analysis::TranslationUnit> unit;
    std::optional<analysis::CompileCommand> ownCommand; ///< Of the file read by itself.
    std::optional<analysis::CompileCommand> command;    ///< Of `unit`, see chooseReading().
    std::vector<analysis::Diagnostic> commandProblems;
    /// The text that the parser did not take, by its hash, and why: it would not take it again.
    std::optional<std::pair<std::size_t, std::string>> refused;
};

DocumentWorker::DocumentWorker(EventLoop& loop, WorkerPool& parsers, WorkerPool& background,
                               spdlog::logger& log, Callbacks callbacks)
    : state_(std::make_shared<State>(loop, parsers, background, log, std::move(callbacks))) {}

DocumentWorker::~DocumentWorker() {
    state_->close();
}

const SnapshotPtr& DocumentWorker::newest() const {
    return state_->newest;
}

void DocumentWorker::update(ParseInput input, bool reload, Urgency urgency) {
    State& state = *state_;
    const bool isPending = state.wanted.has_value();
    state.mayWait =
        urgency == Urgency::Waiting && (state.mayWait || !isPending) && state.readers.empty();
    state.latest.fetch_add(1, std::memory_order_relaxed);
    state.wanted = std::move(input);
    state.wantsReload = state.wantsReload || reload;
    state.failure.reset();
    state.abandonFixes();
    state.schedule();
}

void DocumentWorker::whenCurrent(SnapshotReader reader) {
    State& state = *state_;
    if (state.newest && !state.isOvertaken(state.newest->generation))
        reader(state.newest);
    else if (state.failure)
        reader(std::unexpected(*state.failure));
    else {
        state.readers.push_back(std::move(reader));
        state.hurry();
    }
}

void DocumentWorker::whenFixesReady(std::uint64_t generation, FixesReader reader) {
    State& state = *state_;
    if (!state.newest || state.newest->generation != generation || state.isOvertaken(generation))
        return reader(nullptr);
    if (state.fixes)
        return reader(state.fixes);
    state.fixesReaders.emplace_back(generation, std::move(reader));
    state.fixesTimer.cancel();
    state.findFixes();
}

void DocumentWorker::State::schedule() {
    if (isParsing || isClosed)
        return; // finish() schedules again.
    const milliseconds delay =
        mayWait ? includerRest : std::min(lastParse / debounceDivisor, maxDebounce);
    debounce = loop.after(delay, [self = weak_from_this()] {
        if (const auto state = self.lock())
            state->start();
    });
}

void DocumentWorker::State::hurry() {
    if (!std::exchange(mayWait, false))
        return;
    debounce.cancel();
    schedule();
}

void DocumentWorker::State::start() {
    if (!wanted || isParsing || isClosed)
        return;
    isParsing = true;
    const std::uint64_t generation = latest.load();
    longParseTimer = loop.after(longParse, [self = weak_from_this(), input = *wanted, generation] {
        if (const auto state = self.lock())
            state->sayStillParsing(input, generation);
    });
    parsers.post(
        [self = shared_from_this(), input = *std::exchange(wanted, std::nullopt), generation,
         reload = std::exchange(wantsReload, false)] { self->parse(input, generation, reload); });
}

/// Publishes the notice beside the diagnostics of the last parse.
void DocumentWorker::State::sayStillParsing(const ParseInput& input, std::uint64_t generation) {
    if (!isParsing || isClosed)
        return;
    std::vector<analysis::Diagnostic> diagnostics;
    if (newest)
        diagnostics = newest->model().diagnostics;
    diagnostics.push_back(noticeFor(
        input, "still-parsing",
        fmt::format("The parser has been at this file for {} s. Findings, hovers and code actions "
                    "follow when it is done.",
                    longParse.count()),
        analysis::Severity::Information));
    if (isOvertaken(generation) && wanted)
        callbacks.diagnostics(*wanted, diagnostics);
    else
        callbacks.diagnostics(input, diagnostics);
}

std::vector<analysis::Diagnostic> DocumentWorker::State::parseUnit(const ParseInput& input,
                                                                   bool reload) {
    if (reload || !command) {
        unit.reset();
        commandProblems.clear();
        auto found = input.commands->commandFor(input.file, input.workspaceRoot);
        if (!found) {
            commandProblems.push_back(
                noticeFor(input, "compile-command", found.error().describe()));
            found = input.commands->inferred(input.file, input.workspaceRoot);
        }
        ownCommand = std::move(*found);
        command = *ownCommand;
        refused.reset();
    }
    std::vector<analysis::Diagnostic> diagnostics = commandProblems;
    const std::string& text = input.text->text();
    const std::size_t hash = std::hash<std::string>{}(text);
    if (!refused || refused->first != hash) {
        refused.reset();
        if (const Result<void> parsed = parseText(input); !parsed) {
            unit.reset();
            refused.emplace(hash, parsed.error().describe());
        }
    }
    if (refused)
        diagnostics.push_back(noticeFor(input, "parser-gave-up", refused->second));
    else
        std::ranges::move(unit->diagnostics(), std::back_inserter(diagnostics));
    return diagnostics;
}

Result<void> DocumentWorker::State::parseText(const ParseInput& input) {
    if (unit) {
        Result<void> parsed = unit->reparse(input.text->text(), input.unsaved);
        if (command->includer.empty() || (parsed && unit->readsFile()))
            return parsed;
        unit.reset(); // The includer is gone or has another text: there may be another one.
    }
    auto reading = chooseReading({input.file, input.text->text(), input.workspaceRoot,
                                  *input.commands, input.workbench->toolchain(), input.unsaved},
                                 *ownCommand);
    if (!reading)
        return std::unexpected(std::move(reading.error()));
    command = std::move(reading->command);
    unit = std::move(reading->unit);
    if (!command->includer.empty())
        log.info("{} is read as a part of {}", input.file.string(), command->includer);
    return {};
}

void DocumentWorker::State::parse(const ParseInput& input, std::uint64_t generation, bool reload) {
    const auto began = std::chrono::steady_clock::now();
    const auto took = [&] {
        return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
    };
    std::expected<SnapshotPtr, ResponseError> outcome = std::unexpected(
        ResponseError{ErrorCode::ContentModified, "the document changed while it was parsed"});
    try {
        std::vector<analysis::Diagnostic> diagnostics;
        if (std::string problem = textProblem(input.text->text()); !problem.empty()) {
            unit.reset();
            diagnostics.push_back(noticeFor(input, "not-analysed", std::move(problem)));
        } else {
            diagnostics = parseUnit(input, reload);
        }
        loop.post([self = shared_from_this(), input, diagnostics, generation] {
            self->longParseTimer.cancel();
            if (!self->isClosed && !self->isOvertaken(generation))
                self->callbacks.diagnostics(input, diagnostics);
        });
        const milliseconds diagnosticsTook = took();
        if (!isOvertaken(generation)) {
            auto model =
                unit ? std::make_shared<analysis::FileModel>(unit->model()) : emptyModel(input);
            if (unit)
                model->diagnostics.insert(model->diagnostics.begin(), commandProblems.begin(),
                                          commandProblems.end());
            else
                model->diagnostics = std::move(diagnostics);
            auto snapshot = std::make_shared<Snapshot>();
            snapshot->uri = input.uri;
            snapshot->version = input.version;
            snapshot->generation = generation;
            snapshot->workspaceRoot = input.workspaceRoot;
            snapshot->workbench = input.workbench;
            snapshot->program = {model->file,    input.text->text(),
                                 input.unsaved,  command.value_or(analysis::CompileCommand{}),
                                 model,          capturesIn(input.workspaceRoot),
                                 input.isTrusted};
            snapshot->workbench->knowledge().prepare(snapshot->program,
                                                     [&] { return isOvertaken(generation); });
            outcome = std::move(snapshot);
        }
        log.debug("{} version {}: diagnostics after {} ms, model after {} ms", input.file.string(),
                  input.version, diagnosticsTook.count(), took().count());
    } catch (const std::exception& problem) {
        log.error("{}: {}", input.file.string(), problem.what());
        unit.reset();
        outcome = std::unexpected(ResponseError{ErrorCode::InternalError, problem.what()});
    }
    const SnapshotPtr parsed = outcome ? *outcome : nullptr;
    loop.post([self = shared_from_this(), generation, outcome = std::move(outcome),
               took = took()]() mutable { self->finish(generation, std::move(outcome), took); });
    if (parsed)
        askSkills(*parsed, generation);
}

/// Requests do not wait for this: it only lets them find what they would work out. One that meets
/// the same failure answers with it.
void DocumentWorker::State::askSkills(const Snapshot& parsed, std::uint64_t generation) {
    try {
        parsed.workbench->advisor().prepare(parsed.program, parsed.memory(),
                                            [&] { return isOvertaken(generation); });
    } catch (const std::exception& problem) {
        log.error("{}: {}", parsed.program.file, problem.what());
    }
}

void DocumentWorker::State::finish(std::uint64_t generation,
                                   std::expected<SnapshotPtr, ResponseError> outcome,
                                   milliseconds took) {
    isParsing = false;
    longParseTimer.cancel();
    lastParse = took;
    if (isClosed)
        return;
    if (isOvertaken(generation)) {
        schedule();
        return;
    }
    if (outcome) {
        publish(std::move(*outcome));
        return;
    }
    failure = outcome.error();
    for (SnapshotReader& reader : std::exchange(readers, {}))
        reader(std::unexpected(*failure));
}

void DocumentWorker::State::publish(SnapshotPtr snapshot) {
    newest = std::move(snapshot);
    fixes.reset();
    for (SnapshotReader& reader : std::exchange(readers, {}))
        reader(newest);
    callbacks.snapshot(newest);
    if (engine::repairTargets(newest->model().diagnostics).empty()) {
        deliverFixes(newest->generation, std::make_shared<const std::vector<engine::CompileFix>>());
        return;
    }
    fixesTimer = loop.after(fixesDelay, [self = weak_from_this()] {
        if (const auto state = self.lock())
            state->findFixes();
    });
}

void DocumentWorker::State::findFixes() {
    if (isFindingFixes || fixes || !newest || isClosed)
        return;
    isFindingFixes = true;
    fixesStop = std::stop_source();
    background.post([self = shared_from_this(), snapshot = newest, stop = fixesStop.get_token()] {
        auto found = std::make_shared<std::vector<engine::CompileFix>>();
        try {
            if (!stop.stop_requested())
                *found = engine::proposeFixes(snapshot->model(), snapshot->program.command,
                                              snapshot->workbench->toolchain(), std::nullopt, stop,
                                              snapshot->program.unsaved);
        } catch (const std::exception& problem) {
            self->log.error("fixes for {}: {}", snapshot->program.file, problem.what());
        }
        self->loop.post([self, generation = snapshot->generation, found = std::move(found)] {
            self->deliverFixes(generation, found);
        });
    });
}

void DocumentWorker::State::deliverFixes(std::uint64_t generation, Fixes found) {
    if (!newest || newest->generation != generation || isOvertaken(generation))
        return;
    isFindingFixes = false;
    fixes = std::move(found);
    for (auto& [wantedGeneration, reader] : std::exchange(fixesReaders, {}))
        reader(fixes);
}

void DocumentWorker::State::abandonFixes() {
    fixesTimer.cancel();
    fixesStop.request_stop();
    isFindingFixes = false;
    for (auto& [generation, reader] : std::exchange(fixesReaders, {}))
        reader(nullptr);
}

void DocumentWorker::State::close() {
    isClosed = true;
    latest.fetch_add(1, std::memory_order_relaxed);
    debounce.cancel();
    longParseTimer.cancel();
    abandonFixes();
    for (SnapshotReader& reader : std::exchange(readers, {}))
        reader(
            std::unexpected(ResponseError{ErrorCode::ContentModified, "the document was closed"}));
}

} // namespace kernelskill::lsp
