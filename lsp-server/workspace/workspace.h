/// The folders the user has open, the settings, and the engine they call for.
#pragma once

#include "analysis/command/compile_command.h"
#include "engine/workbench/workbench.h"
#include "lsp-server/configuration/options.h"

#include <spdlog/fwd.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace kernelskill::lsp {

/// Belongs to the loop's thread; what it hands out may be used anywhere.
class Workspace {
public:
    explicit Workspace(spdlog::logger& log);

    void addFolder(const std::filesystem::path& folder);
    void removeFolder(const std::filesystem::path& folder);
    /// The innermost folder that holds `file`; empty when none does.
    [[nodiscard]] std::filesystem::path rootOf(const std::filesystem::path& file) const;

    /// Finds the toolchain and sets up the engine. False when `options`, and the folders that
    /// skills come from, are those in force.
    bool configure(const Options& options);
    /// The same with skills that have changed.
    void reloadSkills();
    [[nodiscard]] const Options& options() const { return options_; }

    /// Whether the editor says that the user trusts the code; no setting of a workspace can.
    [[nodiscard]] bool isTrusted() const { return isTrusted_; }
    void setTrusted(bool isTrusted) { isTrusted_ = isTrusted; }

    /// Null when the installation is broken: problem() says how.
    [[nodiscard]] const std::shared_ptr<const engine::Workbench>& workbench() const {
        return workbench_;
    }
    [[nodiscard]] const Error& problem() const { return problem_; }
    [[nodiscard]] const std::shared_ptr<const analysis::CompileCommands>& compileCommands() const {
        return compileCommands_;
    }

private:
    spdlog::logger& log_;
    std::vector<std::filesystem::path> folders_;
    void makeEngine();

    Options options_;
    std::vector<skills::SkillFolder> skillFolders_;
    bool isTrusted_ = false;
    std::shared_ptr<const engine::Workbench> workbench_;
    std::shared_ptr<const analysis::CompileCommands> compileCommands_;
    Error problem_;
};

/// The Slurm job that the settings ask for.
[[nodiscard]] engine::gpu::SlurmJob slurmJob(const Options& options);

/// The engine for `options`, with the skills of `skillFolders` behind its own. Missing when the
/// data files that belong to the executable are gone.
[[nodiscard]] Result<std::shared_ptr<const engine::Workbench>>
makeWorkbench(const Options& options, std::vector<skills::SkillFolder> skillFolders);

} // namespace kernelskill::lsp
