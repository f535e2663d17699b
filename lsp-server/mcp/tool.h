/// A tool that coding agents may call: what it takes, what it answers, and how.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/source/json.h"
#include "engine/review/reviewer.h"
#include "lsp-server/documents/snapshot.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// A parsed file and one of its kernels.
struct OpenedKernel {
    SnapshotPtr snapshot;
    const analysis::KernelModel* kernel = nullptr; ///< It belongs to the snapshot.

    [[nodiscard]] engine::KernelRef ref() const { return {snapshot->program, *kernel}; }
};

/// A call of a tool, with what it works on. Every tool has an argument `file`.
struct ToolCall {
    nlohmann::json arguments;
    std::filesystem::path file; ///< Absolute.
    std::filesystem::path root; ///< The folder that is trusted or not; see workspaceRootOf().
    bool isTrusted = false;
    std::shared_ptr<const engine::Workbench> workbench;
    std::shared_ptr<const analysis::CompileCommands> commands;
    std::stop_token stop;
    engine::ProgressSink progress;

    /// Reads and parses the file. Errors as readDocument().
    [[nodiscard]] Result<SnapshotPtr> open() const;
    /// Opens the file, and chooses the kernel that the arguments name, by `kernel` or by `line`;
    /// the first one without either. Errors as open() and chooseKernel().
    [[nodiscard]] Result<OpenedKernel> openKernel() const;
    /// The argument `line`, which counts from 1, counted from 0.
    [[nodiscard]] std::optional<std::uint32_t> line() const;

    [[nodiscard]] std::string text(const char* name, const std::string& byDefault = "") const {
        return arguments.value(name, byDefault);
    }
    [[nodiscard]] bool flag(const char* name) const { return arguments.value(name, false); }
    [[nodiscard]] int number(const char* name, int byDefault) const {
        return arguments.value(name, byDefault);
    }
};

struct ToolAnswer {
    nlohmann::json structured; ///< Fits the tool's result schema.
    std::string text;          ///< The same for a reader, as far as it matters.
};

struct Tool {
    std::string name;
    std::string title;
    std::string description;
    nlohmann::json argumentSchema; ///< Made by argumentsSchema().
    nlohmann::json resultSchema;
    bool runsCode = false; ///< Compiles and runs the user's code: only in trusted folders.
    bool mayWrite = false; ///< Writes to the user's files where it is asked to.
    std::function<Result<ToolAnswer>(const ToolCall&)> run;
};

/// All tools, in the order in which they are listed.
[[nodiscard]] std::vector<Tool> allTools();

/// Look at code: check, plan, nest, memory.
void addReadingTools(std::vector<Tool>& tools);
/// Run code: profile, try_edit, verify.
void addRunningTools(std::vector<Tool>& tools);
/// Run code, and may write what they found: apply_skill, optimize.
void addChangingTools(std::vector<Tool>& tools);

/// The tool as tools/list has it.
[[nodiscard]] nlohmann::json listed(const Tool& tool);

/// The argument `file`.
[[nodiscard]] nlohmann::json fileSchema();
/// The arguments `file`, `kernel` and `line` of tools that openKernel(), and `others`.
[[nodiscard]] nlohmann::json
kernelArgumentsSchema(const nlohmann::json& others = nlohmann::json::object(),
                      std::vector<std::string> required = {"file"});

} // namespace kernelskill::lsp
