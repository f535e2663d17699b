/// Runs kernels somewhere that is not this process.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"
#include "analysis/parse/translation_unit.h"
#include "engine/execution/job.h"
#include "engine/execution/profile.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

class CaptureStore;

/// A text to execute kernels of. Contents of user headers may be overridden like the editor's.
struct ProgramSource {
    std::string file;
    std::string text;
    analysis::UnsavedFiles unsaved;
    analysis::CompileCommand command;
    std::shared_ptr<const analysis::FileModel> model; ///< Of exactly this text.
    /// What the user's programs were seen to launch; null: nobody looked.
    std::shared_ptr<const CaptureStore> captures = nullptr;
};

/// A compiled program, valid with the executor that made it. Shared and immutable.
class Image {
public:
    virtual ~Image() = default;
};

class Executor {
public:
    virtual ~Executor() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Compiles one kernel (with the template arguments of `launch`). Results are cached by
    /// content. Unsupported, with `where` = file:line, for what this executor refuses by name;
    /// Failed for compile errors; Missing when it lacks a tool. Thread-safe.
    [[nodiscard]] virtual Result<std::shared_ptr<const Image>>
    build(const ProgramSource& program, const analysis::KernelModel& kernel,
          const LaunchSpec& launch, std::stop_token stop) = 0;

    /// Runs a job. A crash, a hang or a refusal of the kernel is an error value; hazards that let
    /// the run go on are in the profile. Thread-safe.
    [[nodiscard]] virtual Result<RunResult> run(const Image& image, const Job& job,
                                                std::stop_token stop) = 0;
};

} // namespace kernelskill::engine
