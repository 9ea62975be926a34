"""Deep Data Security, which has no counterpart here."""

from memoranda.compat.oracleagentmemory.absent import absent

OracleMemoryEndUserSecurityContext = absent("OracleMemoryEndUserSecurityContext")
UserOwnRowsDeepDataSecurityPolicy = absent("UserOwnRowsDeepDataSecurityPolicy")
GlobalMemoriesDeepDataSecurityPolicy = absent("GlobalMemoriesDeepDataSecurityPolicy")
OciGroupPrincipal = absent("OciGroupPrincipal")
LocalEndUserPrincipal = absent("LocalEndUserPrincipal")
add_deep_data_security_policies = absent("add_deep_data_security_policies")
remove_deep_data_security_policies = absent("remove_deep_data_security_policies")
list_deep_data_security_policies = absent("list_deep_data_security_policies")
grant_agent_memory_policies = absent("grant_agent_memory_policies")
revoke_agent_memory_policies = absent("revoke_agent_memory_policies")
list_agent_memory_granted_policies = absent("list_agent_memory_granted_policies")
get_end_user_username = absent("get_end_user_username")

__all__ = [
    "GlobalMemoriesDeepDataSecurityPolicy",
    "LocalEndUserPrincipal",
    "OciGroupPrincipal",
    "OracleMemoryEndUserSecurityContext",
    "UserOwnRowsDeepDataSecurityPolicy",
    "add_deep_data_security_policies",
    "get_end_user_username",
    "grant_agent_memory_policies",
    "list_agent_memory_granted_policies",
    "list_deep_data_security_policies",
    "remove_deep_data_security_policies",
    "revoke_agent_memory_policies",
]
