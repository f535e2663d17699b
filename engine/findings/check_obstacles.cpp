#include "engine/findings/check_obstacles.h"

#include <utility>

namespace kernelskill::engine {

void CheckObstacles::note(std::uint64_t textHash, Error why) {
    const std::scoped_lock lock(mutex_);
    if (obstacles_.insert_or_assign(textHash, std::move(why)).second)
        order_.push_back(textHash);
    if (order_.size() > maxKept) {
        obstacles_.erase(order_.front());
        order_.pop_front();
    }
}

void CheckObstacles::forget(std::uint64_t textHash) {
    const std::scoped_lock lock(mutex_);
    if (obstacles_.erase(textHash) > 0)
        order_.remove(textHash);
}

std::optional<Error> CheckObstacles::find(std::uint64_t textHash) const {
    const std::scoped_lock lock(mutex_);
    const auto found = obstacles_.find(textHash);
    return found == obstacles_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace kernelskill::engine
