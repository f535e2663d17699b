/// Compiles generated models for this machine's GPU with nvcc, several files at once.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/model/model_files.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::engine::graph {

/// Thread-safe. Its end stops what is not done.
class ModelBuilder {
public:
    /// `folder` exists, and outlives what is built in it. `architecture`: "sm_90". At most `jobs`
    /// compilers run at once.
    ModelBuilder(std::filesystem::path nvcc, std::string architecture, std::filesystem::path folder,
                 std::size_t jobs);
    ModelBuilder(const ModelBuilder&) = delete;
    ModelBuilder& operator=(const ModelBuilder&) = delete;
    ~ModelBuilder();

    /// Begins to build a model, unless one of the same files was begun, and returns its number.
    /// Models are compiled in the order in which they are begun.
    [[nodiscard]] std::size_t begin(const ModelFiles& files);

    /// Waits for a model's libmodel.so. Failed, with the compiler's words, if it does not compile
    /// or its files cannot be written; Cancelled on `stop`.
    [[nodiscard]] Result<std::filesystem::path> wait(std::size_t model, std::stop_token stop);

private:
    struct Build {
        std::filesystem::path folder;
        std::vector<std::filesystem::path> objects;
        std::size_t left = 0; ///< Files that are not compiled yet.
        std::optional<Result<std::filesystem::path>> result;
    };

    void work(const std::stop_token& stop);
    /// Runs nvcc. An error holds the first of its words that name one.
    [[nodiscard]] Result<void> compile(std::vector<std::string> arguments,
                                       const std::stop_token& stop) const;
    void compileFile(Build& build, const std::filesystem::path& source,
                     const std::filesystem::path& object, const std::stop_token& stop);
    void finish(Build& build, Result<std::filesystem::path> result);

    /// The flags of all commands.
    [[nodiscard]] std::vector<std::string> flagsOf(const Build& build) const;

    std::filesystem::path nvcc_;
    std::string architecture_;
    std::filesystem::path folder_;
    std::mutex mutex_; ///< Guards the members below.
    std::condition_variable_any changed_;
    std::vector<std::unique_ptr<Build>> builds_;
    std::map<std::string, std::size_t> numbers_; ///< Of the builds, by a hash of their files.
    std::deque<std::function<void(const std::stop_token&)>> jobs_;
    std::vector<std::jthread> workers_; ///< Declared last, because they use the other members.
};

} // namespace kernelskill::engine::graph
