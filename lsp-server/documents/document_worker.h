/// Parses one document, off the loop's thread, after each edit. The newest text wins; readers get
/// the snapshot of the text they see.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/source/diagnostic.h"
#include "engine/repair/repairer.h"
#include "lsp-server/documents/snapshot.h"
#include "lsp-server/transport/event_loop.h"
#include "lsp-server/transport/json_rpc.h"

#include <spdlog/fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kernelskill::lsp {

/// The inputs of a parse, gathered on the loop's thread.
struct ParseInput {
    std::string uri;
    int version = 0;
    std::filesystem::path file;
    std::filesystem::path workspaceRoot;
    std::shared_ptr<const analysis::SourceText> text;
    analysis::UnsavedFiles unsaved;
    std::shared_ptr<const analysis::CompileCommands> commands;
    std::shared_ptr<const engine::Workbench> workbench;
    bool isTrusted = false; ///< Kernels of the document may be compiled and run.
};

using Fixes = std::shared_ptr<const std::vector<engine::CompileFix>>;

/// Belongs to the loop's thread; its callbacks come there.
class DocumentWorker {
public:
    struct Callbacks {
        /// As soon as the parse is done, before the model is built. `text` is what was parsed.
        std::function<void(const ParseInput&, const std::vector<analysis::Diagnostic>&)>
            diagnostics;
        std::function<void(const SnapshotPtr&)> snapshot;
    };
    using SnapshotReader = std::move_only_function<void(std::expected<SnapshotPtr, ResponseError>)>;
    using FixesReader = std::move_only_function<void(Fixes)>;

    /// The loop and the pools outlive the worker; tasks under way finish after it without effect.
    DocumentWorker(EventLoop& loop, WorkerPool& parsers, WorkerPool& background,
                   spdlog::logger& log, Callbacks callbacks);
    ~DocumentWorker();

    enum class Urgency : std::uint8_t {
        Typing,  ///< The document's own text, or a header of it.
        Waiting, ///< The source that it is read through: once that rests, or when someone asks.
    };
    /// A new text or new surroundings. `reload` also reads the compile command again, looks for
    /// includers and parses from scratch.
    void update(ParseInput input, bool reload, Urgency urgency = Urgency::Typing);

    /// The newest snapshot, which may be older than the text; null before the first.
    [[nodiscard]] const SnapshotPtr& newest() const;
    /// Calls `reader` with the snapshot of the text of the latest update: at once if there is one,
    /// else when it is parsed. An error when the document is closed first or cannot be parsed.
    void whenCurrent(SnapshotReader reader);
    /// Calls `reader` with the fixes for the snapshot of `generation`, looked for in the background
    /// after each parse with errors; null when an edit has overtaken it.
    void whenFixesReady(std::uint64_t generation, FixesReader reader);

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace kernelskill::lsp
