/// A git repository for tests.
#pragma once

#include "analysis/source/program_search.h"
#include "engine/process/child_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::testing {

[[nodiscard]] inline bool hasGit() {
    return analysis::findProgram("git").has_value();
}

class GitRepository {
public:
    /// Makes `folder` a repository without a commit.
    explicit GitRepository(std::filesystem::path folder) : folder_(std::move(folder)) {
        run({"init", "--quiet", "--initial-branch=main", "."});
    }

    /// Commits all files of the folder.
    void commit() const {
        run({"add", "--all", "."});
        run({"commit", "--quiet", "--message", "change"});
    }

    void run(std::vector<std::string> arguments) const {
        std::vector<std::string> words{"-c", "user.name=Test", "-c", "user.email=test@localhost",
                                       "-C", folder_.string()};
        words.insert(words.end(), arguments.begin(), arguments.end());
        engine::ChildCommand command;
        command.program = *analysis::findProgram("git");
        command.arguments = std::move(words);
        const auto done = engine::runChild(command, {});
        ASSERT_TRUE(done) << done.error().describe();
        ASSERT_EQ(done->status, 0) << done->messages;
    }

private:
    std::filesystem::path folder_;
};

} // namespace kernelskill::testing
