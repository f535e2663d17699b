/// A folder with the files of a user's project.
#pragma once

#include "engine/program/workload.h"
#include "tests/temporary_folder.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace kernelskill::engine::testing {

class ProgramFolder {
public:
    void write(const std::filesystem::path& name, std::string_view text) const {
        std::filesystem::create_directories((path() / name).parent_path());
        std::ofstream(path() / name, std::ios::binary) << text;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

private:
    kernelskill::testing::TemporaryFolder folder_;
};

/// The workload of the name; one without a command if there is none.
inline Workload named(const FoundWorkloads& found, std::string_view name) {
    const auto workload = std::ranges::find(found.workloads, name, &Workload::name);
    return workload == found.workloads.end() ? Workload{} : *workload;
}

} // namespace kernelskill::engine::testing
