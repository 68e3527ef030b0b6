"""Members: ways to classify graphs that the estimator weighs against each other."""

from phist.estimators.members.colours import Colours
from phist.estimators.members.member import Member
from phist.estimators.members.network import Network
from phist.estimators.members.profiles import Profiles

MEMBERS: dict[str, type[Member]] = {member.name: member for member in (Network, Colours, Profiles)}
