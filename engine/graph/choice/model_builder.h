/// Compiles generated models for this machine's GPU with nvcc, several files at once.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/model/model_files.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
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
    enum class Urgency : std::uint8_t {
        Usual, ///< After what was begun before.
        Next,  ///< Before all that is not being compiled yet.
    };

    /// `folder` exists, and outlives what is built in it. `architecture`: "sm_90". At most `jobs`
    /// compilers run at once.
    ModelBuilder(std::filesystem::path nvcc, std::string architecture, std::filesystem::path folder,
                 std::size_t jobs);
    ModelBuilder(const ModelBuilder&) = delete;
    ModelBuilder& operator=(const ModelBuilder&) = delete;
    ~ModelBuilder();

    /// Begins to build a model, unless one of the same files was begun, and returns its number.
    /// Kernels that another model has as well are compiled once: their files include nothing of
    /// the model.
    [[nodiscard]] std::size_t begin(const ModelFiles& files, Urgency urgency = Urgency::Usual);

    /// Waits for a model's libmodel.so. Failed, with the compiler's words, if it does not compile
    /// or its files cannot be written; Cancelled on `stop`.
    [[nodiscard]] Result<std::filesystem::path> wait(std::size_t model, std::stop_token stop);

private:
    struct Object;
    struct Build {
        std::filesystem::path folder;
        std::vector<Object*> objects; ///< In the order of the files.
        std::size_t left = 0;         ///< Objects that are not compiled yet.
        std::optional<Result<std::filesystem::path>> result;
    };
    /// A file that is compiled, for one model or several.
    struct Object {
        std::filesystem::path source;
        std::filesystem::path object;
        std::filesystem::path includes;
        std::vector<Build*> waiting;
        std::optional<Result<void>> compiled;
    };

    void work(const std::stop_token& stop);
    /// Has the model wait for the object, which is queued if it is new.
    void need(Build& build, Object& object, bool isNew, Urgency urgency);
    /// Runs nvcc. An error holds the first of its words that name one.
    [[nodiscard]] Result<void> compile(std::vector<std::string> arguments,
                                       const std::filesystem::path& includes,
                                       const std::stop_token& stop) const;
    void compileObject(Object& object, const std::stop_token& stop);
    void link(Build& build, const std::stop_token& stop);
    void finish(Build& build, Result<std::filesystem::path> result);

    std::filesystem::path nvcc_;
    std::string architecture_;
    std::filesystem::path folder_;
    std::mutex mutex_; ///< Guards the members below.
    std::condition_variable_any changed_;
    std::vector<std::unique_ptr<Build>> builds_;
    std::map<std::string, std::size_t> numbers_; ///< Of the builds, by a hash of their files.
    std::vector<std::unique_ptr<Object>> objects_;
    /// Objects by a hash of their texts, those of host files by their paths.
    std::map<std::string, Object*> known_;
    // Workers take from these queues in this order.
    std::deque<Build*> links_;
    std::deque<Object*> urgent_;
    std::deque<Object*> usual_;
    std::vector<std::jthread> workers_; ///< Declared last, because they use the other members.
};

} // namespace kernelskill::engine::graph
