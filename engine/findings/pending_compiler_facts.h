/// Facts that the GPU's compiler still computes for kernels whose profiles are already shown.
#pragma once

#include "engine/findings/profile_cache.h"

#include <chrono>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace kernelskill::engine {

class PendingCompilerFacts {
public:
    using Facts = std::shared_ptr<const Result<StaticFacts>>;

    PendingCompilerFacts() = default;
    PendingCompilerFacts(const PendingCompilerFacts&) = delete;
    PendingCompilerFacts& operator=(const PendingCompilerFacts&) = delete;
    /// Stops the compilers and waits for them.
    ~PendingCompilerFacts() {
        for (Pending& facts : pending_)
            facts.compiling.request_stop();
    }

    void add(ProfileKey key, std::shared_ptr<const Profile> profile, std::future<Facts> facts,
             std::stop_source compiling) {
        const std::scoped_lock lock{mutex_};
        pending_.push_back(
            {std::move(key), std::move(profile), std::move(facts), std::move(compiling)});
    }

    /// Adds the facts that are ready to their profiles. If `awaited` is given, waits for its facts.
    void settle(ProfileCache& profiles, const ProfileKey* awaited = nullptr) {
        std::list<Pending> ready;
        {
            const std::scoped_lock lock{mutex_};
            for (auto at = pending_.begin(); at != pending_.end();) {
                const auto next = std::next(at);
                const bool isAwaited = awaited != nullptr && awaited->hash == at->key.hash;
                if (isAwaited ||
                    at->facts.wait_for(std::chrono::seconds{0}) == std::future_status::ready)
                    ready.splice(ready.end(), pending_, at);
                at = next;
            }
        }
        for (Pending& facts : ready)
            profiles.insert(facts.key, {std::move(facts.profile), facts.facts.get()});
    }

private:
    struct Pending {
        ProfileKey key;
        std::shared_ptr<const Profile> profile;
        std::future<Facts> facts;
        std::stop_source compiling;
    };
    std::mutex mutex_;
    std::list<Pending> pending_;
};

} // namespace kernelskill::engine
