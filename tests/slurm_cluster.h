/// A Slurm cluster of one node for a test: this machine, with two GPUs that are none.
#pragma once

#include "tests/temporary_folder.h"

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kernelskill::testing {

/// Its daemons listen on free ports, keep everything in a folder of their own and end with it, or
/// with the thread that made it, however that ends.
class SlurmCluster {
public:
    /// Why there can be none here; empty when there can.
    static std::string whyNot();

    /// Returns when a job has run, or after half a minute.
    SlurmCluster();
    SlurmCluster(const SlurmCluster&) = delete;
    SlurmCluster& operator=(const SlurmCluster&) = delete;
    ~SlurmCluster();

    /// The error at the start; empty when jobs run.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    /// For $SLURM_CONF.
    [[nodiscard]] std::filesystem::path configuration() const {
        return folder_.path() / "slurm.conf";
    }
    /// The output of a command of Slurm.
    [[nodiscard]] std::string output(const std::string& command) const;
    /// Jobs of this name that wait or run.
    [[nodiscard]] int jobs(const std::string& name) const;

private:
    void writeConfiguration() const;
    void start(std::vector<std::string> words);

    TemporaryFolder folder_;
    std::vector<pid_t> daemons_;
    std::string problem_;
};

} // namespace kernelskill::testing
