/// The shares that a program's last profile gives the kernels of a file, for lenses over them.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/whole_program/program_profile.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// A kernel's time in a program.
struct TimeInProgram {
    double share = 0; ///< The part of the time of all kernels, copies and memsets, 0 to 1.
    std::uint64_t nanoseconds = 0; ///< The time of all launches of a run.
};

/// The kernels of one file.
struct KernelShares {
    std::string program; ///< The workload's name.
    /// The file's text when the program was built, as analysis::tokenText() has it: what is said of
    /// a kernel holds while its definition is still in there.
    std::string tokens;
    struct Kernel {
        engine::KernelSymbol symbol;
        TimeInProgram time;
    };
    std::vector<Kernel> kernels;

    /// The time of all instantiations of a kernel of the file's present model; nullopt if the
    /// program did not launch it, or if its text is another one now.
    [[nodiscard]] std::optional<TimeInProgram> of(const analysis::FileModel& model,
                                                  const analysis::KernelModel& kernel) const;
};

/// The shares of a profile by the files that define its kernels, with links followed. Reads these
/// files; one that was written after `built` is left out, since the program may have been built
/// from another text.
[[nodiscard]] std::map<std::filesystem::path, std::shared_ptr<const KernelShares>>
kernelSharesOf(const engine::ProgramProfile& profile, const std::string& program,
               const std::filesystem::path& root, std::filesystem::file_time_type built);

/// "62 % of GPU time, 1.3 ms in small"
[[nodiscard]] std::string timeInProgramText(const TimeInProgram& time, const std::string& program);

} // namespace kernelskill::lsp
